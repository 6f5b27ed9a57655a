package custody_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/modules/host/program"
	"brine/modules/host/program/custody"
)

const (
	patience = time.Minute
	plays    = "CUSTODY_TEST" // names the record, in the environment of a process that plays a daemon
)

// TestMain makes the test binary play a daemon, and its guard.
func TestMain(m *testing.M) {
	path, ok := os.LookupEnv(plays)
	if !ok {
		os.Exit(m.Run())
	}
	play(path)
}

// play is a daemon that starts what it is told on standard input: a way to start, a space, and a line of the shell.
func play(path string) {
	custody.Begin(custody.Options{Path: path, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		how, line, _ := strings.Cut(in.Text(), " ")
		go begin(how, program.Spec{Argv: []string{"/bin/sh", "-c", line}})
	}
}

func begin(how string, s program.Spec) {
	switch how {
	case "settled":
		fmt.Println(custody.Settled(context.Background()))
	case "open":
		if _, err := program.Open(context.Background(), s); err != nil {
			fmt.Println(err)
		}
	case "close":
		live, err := program.Open(context.Background(), s)
		if err == nil {
			<-live.Exited()
			fmt.Println("closed", live.Close(0))
		}
	case "terminal", "umask":
		s.Terminal = how == "terminal"
		s.Umask = 0o77
		fallthrough
	case "run":
		_, err := program.Run(context.Background(), s)
		fmt.Println("ran", err)
	case "start":
		if _, err := program.Start(s); err != nil {
			fmt.Println(err)
		}
	case "job":
		cmd := exec.Command(s.Argv[0], s.Argv[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
		}
		custody.Started(cmd.Process.Pid, custody.Job)
	}
}

// daemon is a process that plays one.
type daemon struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	in   io.Writer
	out  *bufio.Scanner
	said *bytes.Buffer // its log; to be read when it has ended
	n    int           // programs it was told to start
}

func start(t *testing.T, dir string) *daemon {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{t: t, dir: dir, cmd: exec.Command(self), said: &bytes.Buffer{}}
	d.cmd.Env = append(os.Environ(), plays+"="+filepath.Join(dir, "record"))
	d.cmd.Stderr = d.said
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as a service manager, or -d, starts one
	d.cmd.WaitDelay = time.Second                          // programs have its standard error, too
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := d.cmd.StdoutPipe()
	if err == nil {
		err = d.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	d.out = bufio.NewScanner(out)
	t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	return d
}

// tell lets it start something, in which $P stands for a file that tells that it has begun: it is to hold the number of
// a process.
func (d *daemon) tell(how, line string) (pid int) {
	d.t.Helper()
	d.n++
	path := filepath.Join(d.dir, fmt.Sprintf("pid-%d-%d", d.cmd.Process.Pid, d.n))
	if _, err := fmt.Fprintln(d.in, how, strings.ReplaceAll(line, "$P", path)); err != nil {
		d.t.Fatal(err)
	}
	if !strings.Contains(line, "$P") {
		return 0
	}
	eventually(d.t, "beginning of "+line, func() bool {
		text, err := os.ReadFile(path)
		if err == nil && bytes.HasSuffix(text, []byte("\n")) {
			pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		return pid > 0
	})
	d.t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

// known waits until the custody of the daemon knows the programs of some processes.
func (d *daemon) known(pids ...int) {
	d.t.Helper()
	d.settled()
	for _, pid := range pids {
		group, err := syscall.Getpgid(pid)
		if err != nil {
			d.t.Fatal(err)
		}
		eventually(d.t, "record of a program", func() bool {
			text, err := os.ReadFile(filepath.Join(d.dir, "record"))
			return err == nil && strings.Contains(string(text), fmt.Sprintf(" %d ", group))
		})
	}
	d.tell("run", "true") // it is taken when the guard knows the ones before, too
	d.line("ran <nil>")
}

func (d *daemon) line(want string) {
	d.t.Helper()
	if !d.out.Scan() || d.out.Text() != want {
		d.t.Fatalf("the daemon says %q, want %q", d.out.Text(), want)
	}
}

// settled waits until nothing of a predecessor is left.
func (d *daemon) settled() {
	d.t.Helper()
	d.tell("settled", "")
	d.line("<nil>")
}

// kill ends it, and with its guard nobody is left who knows.
func (d *daemon) kill(withGuard bool) {
	d.t.Helper()
	if withGuard {
		for _, pid := range children(d.t, d.cmd.Process.Pid, "brine-guard") {
			stop(d.t, d.cmd.Process.Pid) // it would start another
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if err := d.cmd.Process.Kill(); err != nil {
		d.t.Fatal(err)
	}
	_ = d.cmd.Wait()
}

func stop(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "stop", func() bool { return state(pid) == "T" })
}

// state is the letter of a process in /proc; "" for one that has gone.
func state(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))[0]
}

// began is when a process has started, as the record tells it.
func began(t *testing.T, pid int) (ticks uint64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		ticks, err = strconv.ParseUint(strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))[19], 10, 64)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ticks
}

func alive(pid int) bool { s := state(pid); return s != "" && s != "Z" && s != "X" }

func gone(t *testing.T, what string, pid int) {
	t.Helper()
	eventually(t, "end of "+what, func() bool { return !alive(pid) })
}

// children are those of a process that have a name.
func children(t *testing.T, of int, name string) (pids []int) {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range list {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		text, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue
		}
		words := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if words[1] == strconv.Itoa(of) && bytes.Contains(text, []byte("("+name+")")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !ok(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("in vain: %s", what)
		}
	}
}
