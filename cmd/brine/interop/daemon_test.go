//go:build interop

package interop

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopPatience is how long a daemon may take to end after SIGTERM. Then its group is killed.
const stopPatience = 30 * time.Second

// daemon is one started process with its own process group.
type daemon struct {
	name string
	cmd  *exec.Cmd
	log  string
	from int64 // size of the log when it started
	done chan struct{}
}

// start starts a daemon that ends with the site at the latest. Its output is appended to <name>.log.
func (s *site) start(name, path string, args ...string) *daemon {
	s.t.Helper()
	d := &daemon{name: name, done: make(chan struct{}), log: filepath.Join(s.root, name+".log")}
	out, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		s.t.Fatal(err)
	}
	if info, err := out.Stat(); err == nil {
		d.from = info.Size()
	}
	d.cmd = exec.Command(path, args...)
	d.cmd.Env, d.cmd.Stdout, d.cmd.Stderr = s.env(), out, out
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := d.cmd.Start(); err != nil {
		s.t.Fatalf("start %s: %v", name, err)
	}
	go func() {
		_ = d.cmd.Wait()                                      // cmd.ProcessState holds the state
		_ = syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL) // children may have outlived it; the group may be empty
		out.Close()
		close(d.done)
	}()
	s.started.add(d)
	return d
}

func (d *daemon) ended() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// output returns the output of the daemon since its start.
func (d *daemon) output() string {
	b, err := os.ReadFile(d.log)
	if err != nil || int64(len(b)) < d.from {
		return ""
	}
	return string(b[d.from:])
}

// says returns an error unless the daemon has written a text since its start.
func (d *daemon) says(text string) error {
	if strings.Contains(d.output(), text) {
		return nil
	}
	return fmt.Errorf("%s does not say %q", d.name, text)
}

// stop ends the daemon with SIGTERM. If that takes too long, it kills the whole group.
func (d *daemon) stop() {
	if d == nil || d.ended() {
		return
	}
	_ = d.cmd.Process.Signal(syscall.SIGTERM) // the process may have ended already
	select {
	case <-d.done:
	case <-time.After(stopPatience):
		d.kill()
	}
}

// kill kills the whole group.
func (d *daemon) kill() {
	if !d.ended() {
		_ = syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL)
	}
	<-d.done
}

// stopTogether stops several daemons concurrently.
func stopTogether(all ...*daemon) {
	var wait sync.WaitGroup
	for _, d := range all {
		wait.Go(d.stop)
	}
	wait.Wait()
}

// pack is the list of daemons that a site has started. The end of a test and its watchdog both use it.
type pack struct {
	mu  sync.Mutex
	all []*daemon
}

func (p *pack) add(d *daemon) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, d)
}

func (p *pack) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.all {
		d.kill()
	}
}

// dumpLogs shows the end of every log, a few times in a test, and whether the master still answers.
func (s *site) dumpLogs() {
	const often = 3
	if s.dumps++; s.dumps > often {
		return
	}
	if s.master != nil && !s.master.ended() {
		s.countWorkers()
	}
	names, _ := filepath.Glob(filepath.Join(s.root, "*.log"))
	for _, name := range names {
		s.t.Logf("--- end of %s\n%s", filepath.Base(name), tailOf(name, 6000))
	}
}

func tailOf(name string, size int64) string {
	f, err := os.Open(name)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > size {
		_, _ = f.Seek(-size, io.SeekEnd)
	}
	b, _ := io.ReadAll(f)
	return string(b)
}
