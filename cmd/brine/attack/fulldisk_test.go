package attack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// envMounts tells a test that it may mount.
const envMounts = "BRINE_ATTACK_MOUNTS"

// mayMount runs the rest of the test in separate namespaces, as root there, so that mounts are private and end
// with it. It returns true inside that run.
func mayMount(t *testing.T) bool {
	t.Helper()
	if testing.Short() {
		t.Skip("starts daemons")
	}
	if os.Getenv(envMounts) != "" {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), envMounts+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		id := func(host int) []syscall.SysProcIDMap {
			return []syscall.SysProcIDMap{{ContainerID: 0, HostID: host, Size: 1}}
		}
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings = id(os.Getuid()), id(os.Getgid())
	}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EPERM), errors.Is(err, unix.ENOSPC):
		t.Skipf("mounting is not permitted here: %v", err)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	}
	return false
}

// disk is a small file system.
type disk struct {
	t    *testing.T
	path string
}

// disk mounts a file system of the given size in place of a directory, with the directory's content.
func (s *site) disk(t *testing.T, path string, size int) *disk {
	t.Helper()
	aside := path + ".before"
	for _, argv := range [][]string{{"mkdir", "-p", path}, {"cp", "-a", path, aside}} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
	}
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", size)); err != nil {
		t.Skipf("mounting is not permitted here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(path, unix.MNT_DETACH) })
	if out, err := exec.Command("cp", "-a", aside+"/.", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return &disk{t, path}
}

func (d *disk) filler() string { return filepath.Join(d.path, "filler") }

// fill leaves no free byte.
func (d *disk) fill() {
	d.t.Helper()
	f, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for chunk := make([]byte, 1<<16); len(chunk) > 0; {
		if _, err := f.Write(chunk); err != nil {
			chunk = chunk[:len(chunk)/2]
		}
	}
}

// free frees the space.
func (d *disk) free() {
	d.t.Helper()
	if err := os.Remove(d.filler()); err != nil {
		d.t.Fatal(err)
	}
}

// async publishes a job and returns its id.
func (s *site) async(args ...string) string {
	s.t.Helper()
	out := s.tool("salt", append([]string{"--async"}, args...)...)
	words := strings.Fields(out.stdout)
	if out.code != 0 || len(words) == 0 {
		s.t.Fatalf("salt %q: %+v", args, out)
	}
	return words[len(words)-1]
}

// stored waits until the job store contains a text as the return of a job, and the job's load.
func (s *site) stored(jid, text string) {
	s.t.Helper()
	s.eventually("return of "+jid, func() error {
		if out := s.tool("salt-run", "jobs.lookup_jid", jid); !strings.Contains(out.stdout, text) {
			return fmt.Errorf("jobs.lookup_jid: %+v", out)
		}
		if out := s.tool("salt-run", "jobs.list_job", jid); !strings.Contains(out.stdout, "test.arg") {
			return fmt.Errorf("jobs.list_job: %+v", out)
		}
		return nil
	})
}

// TestFullDiskMaster fills the disk of the job store and of the data cache. Nothing is acknowledged that is not
// stored. When there is space again, nothing is missing, even after a kill.
func TestFullDiskMaster(t *testing.T) {
	t.Parallel() // it mostly waits
	if !mayMount(t) {
		return
	}
	s := newSite(t, "")
	s.master.stop()
	d := s.disk(t, s.cache(""), 24<<20)
	s.startMaster()
	s.eventually("the honest minion", func() error { return s.ping(second() / 2) })
	before := s.async(honest, "test.arg", "before")
	s.stored(before, "before")
	d.fill()
	var jids []string
	large := strings.Repeat("x", 100<<10)
	for i := range 5 {
		// larger than the free pages in the store's file
		jids = append(jids, s.async(honest, "test.arg", fmt.Sprintf("text-%d", i), large))
	}
	for _, jid := range jids {
		s.said(s.minions[honest], "the master does not take a return")
		s.eventually("what is told of "+jid, func() error {
			if out := s.tool("brine", "why", jid); !strings.Contains(out.stdout, "not_stored") ||
				!strings.Contains(out.stdout, "sends it again") {
				return fmt.Errorf("%+v", out)
			}
			return nil
		})
	}
	if out := s.tool("salt", honest, "mine.send", "test.ping"); strings.Contains(out.stdout, "True") {
		t.Errorf("a mine that is not stored is acknowledged: %+v", out)
	}
	if got := s.tool("salt", "-t", "5", honest, "test.ping"); !strings.Contains(got.stdout, "True") {
		// jobs run nevertheless
		t.Errorf("on a full disk: %+v", got)
	}
	d.free()
	for i, jid := range jids {
		s.stored(jid, fmt.Sprintf("text-%d", i))
	}
	s.master.kill()
	s.startMaster()
	for i, jid := range jids {
		s.stored(jid, fmt.Sprintf("text-%d", i))
	}
	s.eventually("mine", func() error {
		if out := s.tool("salt", honest, "mine.send", "test.ping"); !strings.Contains(out.stdout, "True") {
			return fmt.Errorf("%+v", out)
		}
		return nil
	})
	s.eventually("the honest minion", func() error { return s.ping(second() / 2) })
	s.good()
}
