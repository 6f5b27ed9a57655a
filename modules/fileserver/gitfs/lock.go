package gitfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// lockFile keeps updates away, ours and other processes', until it is removed. It names the process and the machine
// that have made it, in two lines, as Salt's does.
func (r *repo) lockFile() string { return filepath.Join(r.dir, "update.lk") }

// machineID is what tells this machine from others that share a cache.
func machineID() string {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if raw, err := os.ReadFile(path); err == nil {
			return strings.TrimSpace(string(raw))
		}
	}
	return "no_machine_id_available"
}

// errLocked means that somebody keeps updates away.
var errLocked = errors.New("the update lock is held")

// lock makes the lock file of an update. One whose process has gone, on this machine, is taken over.
func (r *repo) lock() (string, error) { return r.lockFor(os.Getpid()) }

// keep makes the lock file of an operator, which stays until it is removed: it names no process. Unlike Salt, where the
// lock of salt-run fileserver.lock is taken over because salt-run has ended.
func (r *repo) keep() (string, error) { return r.lockFor(0) }

func (r *repo) lockFor(pid int) (string, error) {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return "", err
	}
	id := machineID()
	for range 2 {
		f, err := os.OpenFile(r.lockFile(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintf(f, "%d\n%s\n", pid, id)
			if err = errors.Join(err, f.Close()); err != nil {
				return "", err
			}
			return fmt.Sprintf("Set update lock for %s remote '%s' on machine_id '%s'", r.role, redactURL(r.id), id),
				nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		holder, host := r.holder()
		if holder == 0 {
			return "", fmt.Errorf("%w until fileserver.clear_lock: %s", errLocked, r.lockFile())
		}
		if holder > 0 && running(holder) || host != id && r.globalLock {
			return "", fmt.Errorf("%w by process %d: %s", errLocked, holder, r.lockFile())
		}
		if err := os.Remove(r.lockFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("%w: %s", errLocked, r.lockFile())
}

// holder is who has made the lock file: 0 is an operator, -1 nobody knows.
func (r *repo) holder() (pid int, machine string) {
	raw, err := os.ReadFile(r.lockFile())
	if err != nil {
		return -1, machineID()
	}
	first, rest, _ := strings.Cut(string(raw), "\n")
	if pid, err = strconv.Atoi(strings.TrimSpace(first)); err != nil || pid < 0 {
		return -1, machineID()
	}
	return pid, strings.TrimSpace(rest)
}

func running(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// unlock removes the lock file; there was none where the text is empty.
func (r *repo) unlock() (string, error) {
	err := os.Remove(r.lockFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		// Salt's words
		return "", fmt.Errorf("Unable to remove update lock for %s (%s): %w", redactURL(r.url), r.lockFile(), err)
	}
	return fmt.Sprintf("Removed update lock for %s remote '%s' on machine_id '%s'", r.role, redactURL(r.id),
		machineID()), nil
}
