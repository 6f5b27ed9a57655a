package saltapi

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"brine/wire/control"
)

// place is the folder for the control socket of a salt-api. Several salt-apis may run beside one master, each
// with its own folder. A lock holds the folder and ends with the process, so that a dead process leaves the
// folder free.
type place struct {
	name string // name of the folder below sock_dir
	lock *os.File
	log  *slog.Logger
}

// lockFile is the name of the lock in the folder.
const lockFile = "lock"

// takePlace takes the first folder below sockDir that is free.
func takePlace(sockDir string, log *slog.Logger) (*place, error) {
	for n := 1; n <= control.APIMost; n++ {
		p := &place{name: control.APIFolder(n), log: log}
		taken, err := p.take(filepath.Join(sockDir, p.name))
		if err != nil {
			return nil, fmt.Errorf("control socket: %w", err)
		}
		if taken {
			if n > 1 {
				log.Warn(fmt.Sprintf("Another salt-api runs beside this master; this one is number %d: brine tree "+
					"--api --api-number=%d", n, n))
			}
			return p, nil
		}
	}
	return nil, fmt.Errorf("control socket: %d others of this master run here", control.APIMost)
}

// take locks the folder. It is false if another process holds the lock.
func (p *place) take(dir string) (bool, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, err
	}
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return false, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		p.lock = f
		return true, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = nil
	}
	return false, errors.Join(err, f.Close())
}

// leave frees the folder.
func (p *place) leave() error { return p.lock.Close() }
