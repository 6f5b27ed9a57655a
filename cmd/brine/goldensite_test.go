package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/cmd/session"
	"brine/wire/loopback"

	"golang.org/x/sys/unix"
)

// casePatience bounds the time of one recorded case.
const casePatience = 90 * time.Second

// goldenSite is a folder with the files of fixture.json, and the values for their tokens.
type goldenSite struct {
	root string
	vars map[string]string
	path string // PATH of the tools
	// daemons is the bin directory of the Salt whose daemons run, or "" for the daemons in path.
	daemons string
	slower  bool // the job of the case sleeps longer than the recorded one
}

// newGoldenSite restores the fixture in a separate folder. The path is short, because sockets live below it.
func newGoldenSite(t *testing.T) *goldenSite {
	t.Helper()
	root, err := os.MkdirTemp("", "bg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(root, 0o755); err != nil { // some cases run as user nobody
		t.Fatal(err)
	}
	s := &goldenSite{root: root, path: os.Getenv("PATH"), vars: map[string]string{
		"{ROOT}": root, "{TMP}": root + "/tmp", "{SRC}": root + "/src", "{SRCDIR}": root + "/src",
		"{PUBPORT}": freePort(t), "{RETPORT}": freePort(t)}}
	if bin := goldenBin(); bin != "" {
		s.path = bin + ":" + s.path
	}
	var fixture struct{ Files map[string]string }
	readGolden(t, "fixture.json", &fixture)
	for name, content := range fixture.Files {
		s.write(t, s.fill(name), s.fill(content))
	}
	for _, dir := range []string{"tmp", "home", "src/out", "keys/m/var/cache/salt/master/jobs",
		"keys/m/var/cache/salt/master/proc"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *goldenSite) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// fill puts the site's values into a text. User root in the fixture becomes the user who runs the test.
func (s *goldenSite) fill(text string) string {
	for name, value := range s.vars {
		text = strings.ReplaceAll(text, name, value)
	}
	return strings.ReplaceAll(text, "user: root\n", "user: "+session.RunningUser()+"\n")
}

func freePort(t *testing.T) string {
	t.Helper()
	p, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Release() }) // it ends with the process at the latest
	return strconv.Itoa(p.Number)
}

// command prepares a process of the site. It looks for the tool in the site's PATH.
func (s *goldenSite) command(ctx context.Context, config string, argv ...string) (*exec.Cmd, error) {
	file := argv[0]
	for dir := range strings.SplitSeq(s.path, ":") {
		if p := filepath.Join(dir, argv[0]); session.IsFile(p) {
			file = p
			break
		}
	}
	if !filepath.IsAbs(file) {
		return nil, fmt.Errorf("no %s in %s", argv[0], s.path)
	}
	cmd := exec.CommandContext(ctx, file, argv[1:]...)
	conf := config
	if conf == "keys" {
		conf = "keys/master"
	}
	cmd.Dir = s.root
	cmd.Env = []string{"PATH=" + s.path, "HOME=" + s.root + "/home", "TMPDIR=" + s.root + "/tmp", "LC_ALL=C.UTF-8",
		"COLUMNS=80", "SALT_CONFIG_DIR=" + filepath.Join(s.root, conf), "GORACE=" + os.Getenv("GORACE")}
	cmd.WaitDelay = 5 * time.Second
	return cmd, nil
}

// run runs a case to its end.
func (s *goldenSite) run(t *testing.T, c *goldenCase) *outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), casePatience)
	defer cancel()
	argv := make([]string, len(c.Argv))
	for i, a := range c.Argv {
		argv[i] = s.fill(a)
	}
	cmd, err := s.command(ctx, c.Config, argv...)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(c.Argv, "{ROOT}/none") {
		// the tool uses the default directories, which belong to this machine
		cmd.Env = append(cmd.Env, "BRINE_MINION__ROOT_DIR="+s.root+"/none", "BRINE_MINION__ID=web1")
	}
	if c.Stdin != nil {
		cmd.Stdin = strings.NewReader(*c.Stdin)
	}
	if c.RunAs != "" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential(t, c.RunAs)}
		if goldenBin() == "" {
			cmd.Path = s.publicCopy(t, argv[0])
		}
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if c.Terminal {
		terminal, wait := openTerminal(t, &stdout)
		cmd.Stdout = terminal
		defer terminal.Close()
		err = s.wait(cmd, c)
		terminal.Close()
		wait()
	} else {
		err = s.wait(cmd, c)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", strings.Join(argv, " "), err)
	}
	got := &outcome{Stdout: stdout.String(), Stderr: stderr.String(), Exit: cmd.ProcessState.ExitCode()}
	if c.OutputFile != "" {
		raw, err := os.ReadFile(s.fill(c.OutputFile))
		if err != nil {
			t.Error(err)
		}
		got.File = string(raw)
	}
	return got
}

// publicCopy copies this test's binary, which can act as every tool, to a place where any user may run it.
func (s *goldenSite) publicCopy(t *testing.T, tool string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(s.root, "bin", tool)
	s.write(t, copied, string(binary))
	if err := os.Chmod(copied, 0o755); err != nil {
		t.Fatal(err)
	}
	return copied
}

// wait starts a process and waits for its end. It interrupts the process if the case says so.
func (s *goldenSite) wait(cmd *exec.Cmd, c *goldenCase) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	if c.SIGINT == 0 {
		return cmd.Wait()
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		s.interrupt(cmd, c, over)
	}()
	err := cmd.Wait()
	close(over)
	<-ended
	return err
}

// interrupt sends SIGINT to a process at the time that the case gives, but not before the job runs.
func (s *goldenSite) interrupt(cmd *exec.Cmd, c *goldenCase, over <-chan struct{}) {
	wait := time.Duration(c.SIGINT * float64(time.Second))
	for {
		select {
		case <-over:
			return
		case <-time.After(wait):
		}
		if jobs, _ := filepath.Glob(filepath.Join(s.root, "web1/*/var/cache/salt/minion/proc/*")); len(jobs) > 0 {
			_ = cmd.Process.Signal(os.Interrupt)
			return
		}
		wait = 50 * time.Millisecond
	}
}

func credential(t *testing.T, name string) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		t.Skip(err)
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// openTerminal makes a pseudo terminal and copies its output to w. wait returns when all of it has arrived.
func openTerminal(t *testing.T, w io.Writer) (terminal *os.File, wait func()) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	mode, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	mode.Oflag &^= unix.OPOST // no carriage returns
	if err := unix.IoctlSetTermios(int(terminal.Fd()), unix.TCSETS, mode); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(w, master) // ends with EIO when the other side is closed
		master.Close()
	}()
	return terminal, func() { <-done }
}
