package attack

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// daemon is one process of the site. Its output, including its log, goes to a file.
type daemon struct {
	name, log string
	cmd       *exec.Cmd
	done      chan struct{} // closed when the process has ended
}

// start starts a program. Its output is appended to a file of its name.
func (s *site) start(name, program string, args ...string) *daemon {
	s.t.Helper()
	d := &daemon{name: name, log: s.path(strings.ReplaceAll(name, " ", "-") + ".out"), done: make(chan struct{})}
	out, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer out.Close()
	d.cmd = exec.Command(program, args...)
	d.cmd.Stdout, d.cmd.Stderr, d.cmd.Env = out, out, s.env()
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := d.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(d.done)
		_ = d.cmd.Wait() // the output shows how it ended
	}()
	return d
}

func (d *daemon) running() bool {
	select {
	case <-d.done:
		return false
	default:
		return true
	}
}

// stop ends a daemon as a service manager does.
func (d *daemon) stop() {
	_ = d.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	<-d.done
}

// kill kills a daemon and its children.
func (d *daemon) kill() {
	_ = syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL) // the group may have ended already
	<-d.done
}

// rss is the resident memory of a daemon in bytes.
func (d *daemon) rss() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if kib, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseInt(strings.Fields(kib)[0], 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("no VmRSS of %s", d.name)
}

// files lists the regular files below a directory of the site, sorted.
func (s *site) files(rel string) []string {
	s.t.Helper()
	var all []string
	err := filepath.WalkDir(s.path(rel), func(p string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err == nil && d.Type().IsRegular() {
			all = append(all, p)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}
