//go:build shipped

package shipped

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/wire/loopback"
)

// patience bounds the wait for a condition. qemu is slow, and the machine may be slow, too.
const patience = 2 * time.Minute

// target is one kind of processor.
type target struct {
	name    string // as in the name of the file
	machine string // as in the output of uname
	qemu    string // the emulator
}

var targets = []target{
	{"amd64", "x86_64", "qemu-x86_64-static"},
	{"arm64", "aarch64", "qemu-aarch64-static"},
	{"armv7", "armv7l", "qemu-arm-static"},
}

// distDir is the folder with the results of ./task dist.
func distDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../../dist")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// file is the binary of a target.
func (g target) file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(distDir(t), "brine-linux-"+g.name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v (run ./task dist)", err)
	}
	return path
}

// argv returns the words that run a tool of the binary in the emulator. Even amd64 uses the emulator.
func (g target) argv(t *testing.T, tool string, args ...string) []string {
	t.Helper()
	return append([]string{g.qemu, g.file(t), tool}, args...)
}

// site is one master and one minion below a short directory. Everything ends with the test.
type site struct {
	*testing.T
	root     string
	pub, ret int
	tool     func(name string) []string // the words that start a tool of the same implementation as the master
}

func newSite(t *testing.T) *site {
	t.Helper()
	root, err := os.MkdirTemp("/tmp", "bs") // short, because paths of Unix sockets have at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, root: root, pub: port(t), ret: port(t)}
	t.Cleanup(func() {
		if t.Failed() {
			s.showLogs()
		}
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	return s
}

func port(t *testing.T) int {
	t.Helper()
	p, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Release() }) // it ends with the process at the latest
	return p.Number
}

func (s *site) path(elem ...string) string {
	return filepath.Join(append([]string{s.root}, elem...)...)
}

func (s *site) write(path, text string) {
	s.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
}

// daemon is a started process with its own process group.
type daemon struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// start starts a daemon. Its output goes to a file of that name.
func (s *site) start(name string, argv ...string) *daemon {
	s.Helper()
	out, err := os.OpenFile(s.path(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		s.Fatal(err)
	}
	d := &daemon{cmd: s.command(context.Background(), argv...), done: make(chan struct{})}
	d.cmd.Stdout, d.cmd.Stderr = out, out
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := d.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	go func() {
		_ = d.cmd.Wait()
		_ = out.Close()
		close(d.done)
	}()
	s.Cleanup(d.kill)
	return d
}

// kill ends the whole group at once.
func (d *daemon) kill() {
	_ = syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL) // the group may have ended already
	<-d.done
}

// stop asks the daemon to end and waits for it.
func (d *daemon) stop(s *site) {
	s.Helper()
	_ = d.cmd.Process.Signal(syscall.SIGTERM) // the process may have ended already
	select {
	case <-d.done:
	case <-time.After(patience):
		s.Fatalf("%v does not end", d.cmd.Args)
	}
}

// command keeps the user's settings out of the tests.
func (s *site) command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+s.root, "SALT_CONFIG_DIR=", "LC_ALL=C.UTF-8", "COLUMNS=80",
		"PYTHONWARNINGS=ignore")
	return cmd
}

// try runs a program and returns its stdout.
func (s *site) try(argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := s.command(ctx, argv...)
	cmd.WaitDelay = time.Second
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("%q: %w\n%s%s", argv, err, out, errOut.String())
	}
	return string(out), nil
}

// must is try. An error fails the test.
func (s *site) must(argv ...string) string {
	s.Helper()
	out, err := s.try(argv...)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

// master runs one of the master's tools.
func (s *site) master(tool string, args ...string) (string, error) {
	return s.try(append(append(s.tool(tool), "-c", s.path("m/etc")), args...)...)
}

// eventually calls ask until it returns no error.
func (s *site) eventually(what string, ask func() error) {
	s.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if err = ask(); err == nil {
			return
		}
	}
	s.Fatalf("%s: %v", what, err)
}

// listening waits until the request port is open.
func (s *site) listening() {
	s.Helper()
	s.eventually("the master listens", func() error {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", s.ret), time.Second)
		if err != nil {
			return err
		}
		return c.Close()
	})
}

func (s *site) showLogs() {
	names, _ := filepath.Glob(s.path("*.log"))
	for _, name := range names {
		b, _ := os.ReadFile(name)
		s.Logf("--- end of %s\n%s", filepath.Base(name), b[max(0, len(b)-6000):])
	}
}
