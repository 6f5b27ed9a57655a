package keepalive

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const patience = time.Minute

// kept is a process that acts as a minion, with its parent.
type kept struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.Writer
	lines chan string
	ended chan int // exit code of the parent
}

func start(t *testing.T, change func(*exec.Cmd), argv ...string) *kept {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k := &kept{t: t, lines: make(chan string, 100), ended: make(chan int, 1)}
	k.cmd = &exec.Cmd{Path: self, Args: argv, Env: append(os.Environ(), "KEEPALIVE_TEST=1"), Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if change != nil {
		change(k.cmd)
	}
	if k.in, err = k.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	k.cmd.Stdout = w
	if err := k.cmd.Start(); err != nil {
		if attr := k.cmd.SysProcAttr; attr != nil && attr.Cloneflags != 0 {
			t.Skip(err) // not every system permits namespaces
		}
		t.Fatal(err)
	}
	_ = w.Close()
	go func() {
		defer out.Close()
		for s := bufio.NewScanner(out); s.Scan(); {
			k.lines <- s.Text()
		}
	}()
	go func() {
		_ = k.cmd.Wait()
		code := k.cmd.ProcessState.ExitCode()
		k.ended <- code
	}()
	t.Cleanup(func() { _ = syscall.Kill(-k.cmd.Process.Pid, syscall.SIGKILL) })
	return k
}

// line waits for a line that begins with want and returns the rest.
func (k *kept) line(want string) string {
	k.t.Helper()
	for limit := time.After(patience); ; {
		select {
		case line := <-k.lines:
			if rest, ok := strings.CutPrefix(line+" ", want+" "); ok {
				return strings.TrimSpace(rest)
			}
			k.t.Fatalf("%q, want %q", line, want)
		case <-limit:
			k.t.Fatalf("no line %q", want)
		}
	}
}

// tell sends commands to the process.
func (k *kept) tell(words ...string) {
	k.t.Helper()
	for _, w := range words {
		if _, err := fmt.Fprintln(k.in, w); err != nil {
			k.t.Fatal(err)
		}
		if !strings.HasPrefix(w, "exit") {
			k.line("did " + w)
		}
	}
}

// begin waits for a process and returns its pid. want are the facts that the process has about its predecessor.
func (k *kept) begin(want string) (pid int) {
	k.t.Helper()
	rest := k.line("begin")
	if _, err := fmt.Sscan(rest, &pid); err != nil {
		k.t.Fatal(rest, err)
	}
	if _, about, _ := strings.Cut(rest, " "); about != want {
		k.t.Errorf("the process says %q, want %q", about, want)
	}
	return pid
}

// TestSlack: the kernel may wake the process and its children a little late (docs/decisions/0063).
func TestSlack(t *testing.T) {
	k := start(t, nil, "salt-minion")
	k.begin(first)
	if _, err := fmt.Fprintln(k.in, "slack"); err != nil {
		t.Fatal(err)
	}
	if got := k.line("slack"); got != "200000" {
		t.Errorf("a slack of %s ns", got)
	}
}

func (k *kept) end(want int) {
	k.t.Helper()
	select {
	case code := <-k.ended:
		if code != want {
			k.t.Errorf("exit code %d, want %d", code, want)
		}
	case <-time.After(patience):
		k.t.Fatal("the parent does not end")
	}
}

// gone waits until the parent has reaped a process.
func (k *kept) gone(pid int) {
	k.t.Helper()
	for limit := time.After(patience); syscall.Kill(pid, 0) == nil; {
		select {
		case <-limit:
			k.t.Fatalf("process %d does not end", pid)
		case <-time.After(time.Millisecond):
		}
	}
}

func (k *kept) signal(pid int, sig syscall.Signal) {
	k.t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		k.t.Fatal(err)
	}
}

// TestMaster: a master has a parent, too.
func TestMaster(t *testing.T) {
	for _, argv := range [][]string{{"/x/salt-master", "-c", "etc"}, {"brine", "salt-master"}} {
		k := start(t, nil, argv...)
		pid := k.begin(first)
		k.tell("ready")
		k.signal(pid, syscall.SIGSEGV)
		k.begin(fmt.Sprintf("true true %d exit code 2 2 1", pid)) // the Go runtime ends the process after this signal
		k.tell("ready", "over", "exit4")
		k.end(4)
	}
}

const first = "true false 0 exit code 0 0 0"

// TestKilled: a new process follows every death at once.
func TestKilled(t *testing.T) {
	k := start(t, nil, "/x/salt-minion", "-c", "etc")
	pid := k.begin(first)
	if pid == k.cmd.Process.Pid {
		t.Fatal("there is no parent")
	}
	k.tell("ready")
	for n := range 3 {
		since := time.Now()
		k.signal(pid, syscall.SIGKILL)
		pid = k.begin(fmt.Sprintf("true true %d signal 9 (killed) -9 %d", pid, n+1))
		t.Logf("a new process after %v", time.Since(since))
	}
	k.tell("exit2") // as a Go program that dies of a panic; the process has not said that it ends on purpose
	k.begin(fmt.Sprintf("true true %d exit code 2 2 4", pid))
	k.signal(k.cmd.Process.Pid, syscall.SIGTERM) // it does not listen yet, so the signal goes to it
	k.end(128 + int(syscall.SIGTERM))
}

// TestOnPurpose: the parent passes on the exit code of a process that ends on purpose, or that was never ready.
func TestOnPurpose(t *testing.T) {
	for _, tt := range []struct {
		words []string
		want  int
	}{
		{[]string{"ready", "over", "exit0"}, 0},
		{[]string{"ready", "over", "exit2"}, 2},
		{[]string{"exit2"}, 2},
		{[]string{"over", "exit2"}, 2},
	} {
		k := start(t, nil, "salt-minion")
		k.begin(first)
		k.tell(tt.words...)
		k.end(tt.want)
	}
}

// TestCannotStart: after a process that was ready, the parent repeats a start that fails for a passing reason.
// The next process that starts hears of the death, and not of the failed starts. If the first process cannot
// start, the parent ends. It also ends if a process ends for another reason.
func TestCannotStart(t *testing.T) {
	k := start(t, nil, "salt-master")
	pid := k.begin(first)
	k.tell("ready")
	k.signal(pid, syscall.SIGKILL)
	died := fmt.Sprintf("true true %d signal 9 (killed) -9 1", pid)
	for range 6 { // more than the number of deaths that are answered at once
		k.begin(died)
		k.tell("again", "over", "exit4")
	}
	k.begin(died)
	k.tell("ready", "again", "over", "exit2") // it was ready, so this is an end on purpose
	k.end(2)

	k = start(t, nil, "salt-master")
	k.begin(first)
	k.tell("again", "over", "exit4")
	k.end(4)

	k = start(t, nil, "salt-master")
	pid = k.begin(first)
	k.tell("ready")
	k.signal(pid, syscall.SIGKILL)
	k.begin(fmt.Sprintf("true true %d signal 9 (killed) -9 1", pid))
	k.tell("over", "exit2") // its configuration is refused
	k.end(2)
}

// TestAgain: the parent pauses when a process asks for its replacement. A request to stop ends the parent
// during the pause.
func TestAgain(t *testing.T) {
	const tries = 20
	for range tries {
		if endsWhilePausing(t) {
			return
		}
	}
	t.Fatalf("this machine was too slow to see the pause, %d times", tries)
}

// endsWhilePausing is false if the pause may have ended before the parent got the request to stop.
func endsWhilePausing(t *testing.T) bool {
	t.Helper()
	k := start(t, nil, "brine", "salt-minion")
	pid := k.begin(first)
	since := time.Now()
	inPause := func() bool { return time.Since(since) < 2*time.Second } // the pause is 3 s or longer
	k.tell("ready", "over", "exit99")
	k.gone(pid)
	select {
	case line := <-k.lines:
		if inPause() {
			t.Errorf("%q without a pause", line)
		}
	case <-k.ended:
		t.Fatal("the parent has ended")
	case <-time.After(200 * time.Millisecond):
	}
	k.signal(k.cmd.Process.Pid, syscall.SIGTERM)
	if !inPause() {
		return false
	}
	k.end(0)
	return true
}

// TestSignals: the parent forwards signals. It sends requests to stop through the channel as soon as the
// process listens there.
func TestSignals(t *testing.T) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // nohup ignores the signal, and the processes inherit that
	t.Cleanup(func() { signal.Stop(heard) })
	k := start(t, nil, "salt-minion", "catch")
	k.begin(first)
	k.signal(k.cmd.Process.Pid, syscall.SIGHUP) // waits until the process is ready to reload its files
	k.signal(k.cmd.Process.Pid, syscall.SIGUSR1)
	k.line("own user defined signal 1")
	k.tell("ready")
	k.line("own hangup")
	k.signal(k.cmd.Process.Pid, syscall.SIGHUP)
	k.line("own hangup")
	k.signal(k.cmd.Process.Pid, syscall.SIGTERM)
	k.line("own terminated")
	k.tell("listen")
	k.signal(k.cmd.Process.Pid, syscall.SIGINT)
	k.line("handed interrupt")
	k.signal(k.cmd.Process.Pid, syscall.SIGTERM)
	k.line("handed terminated")
	k.tell("exit2") // the process has got a request to stop, so no other follows
	k.end(2)
}

// TestHung: a service manager ends a hanging daemon with SIGABRT to the parent, which takes its process along.
// A process that can still react writes its stacks. Any other is killed.
func TestHung(t *testing.T) {
	for _, tt := range []struct {
		words []string
		want  int
	}{
		{[]string{"ready"}, 2}, // Go writes its stacks and exits with 2
		{[]string{"ready", "deaf"}, 128 + int(syscall.SIGKILL)},
	} {
		k := start(t, func(c *exec.Cmd) { c.Stderr = nil }, "salt-minion")
		pid := k.begin(first)
		k.tell(tt.words...)
		k.signal(pid, syscall.SIGSTOP)
		k.signal(k.cmd.Process.Pid, syscall.SIGABRT)
		k.end(tt.want)
		k.gone(pid)
	}
}

// TestParentKilled: the process notices the death of its parent.
func TestParentKilled(t *testing.T) {
	k := start(t, nil, "salt-minion")
	k.begin(first)
	k.tell("ready", "listen")
	k.signal(k.cmd.Process.Pid, syscall.SIGKILL)
	k.line("gone")
}

// TestWithout: these command lines get no parent.
func TestWithout(t *testing.T) {
	for _, argv := range [][]string{{"salt-minion", "-c", "x", "--disable-keepalive"}, {"brine", "salt-minion",
		"--disable-keepalive"}, {"salt-master", "--disable-keepalive"}, {"brine", "salt-master", "-c", "x",
		"--disable-keepalive"}, {"salt-minion-job"}, {"salt-run", "salt-master"}, {"salt-key", "salt-minion"},
		{"salt-minion-job"}, {"brine"}, {"brine", "-c", "salt-minion"}} {
		k := start(t, nil, argv...)
		if pid := k.begin("false false 0 exit code 0 0 0"); pid != k.cmd.Process.Pid {
			t.Errorf("%q: process %d is not %d", argv, pid, k.cmd.Process.Pid)
		}
		k.signal(k.cmd.Process.Pid, syscall.SIGKILL)
		k.end(-1)
	}
}

// TestServiceManager: the service manager gets messages from the parent alone.
func TestServiceManager(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	for _, name := range []string{path, "@" + path} {
		conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: name})
		if err != nil {
			t.Fatal(err)
		}
		k := start(t, func(c *exec.Cmd) { c.Env = append(c.Env, "NOTIFY_SOCKET="+name) }, "salt-minion")
		pid := k.begin(first)
		k.tell("ready", "watchdog")
		k.signal(pid, syscall.SIGKILL)
		now := k.begin(fmt.Sprintf("true true %d signal 9 (killed) -9 1", pid))
		k.tell("ready", "stopping", "over", "exit0")
		k.end(0)
		again := fmt.Sprintf("READY=1\nSTATUS=Process %d, after 1 that died; the last one with exit status -9", now)
		for _, want := range []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1", again, "STOPPING=1"} {
			// the second message is the parent's own
			var b [200]byte
			if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			n, err := conn.Read(b[:])
			if err != nil || string(b[:n]) != want {
				t.Errorf("%q %v, want %q", b[:n], err, want)
			}
		}
		_ = conn.Close()
	}
}

// TestDeafServiceManager: a service manager that does not read cannot block the parent.
func TestDeafServiceManager(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: path})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	k := start(t, func(c *exec.Cmd) { c.Env = append(c.Env, "NOTIFY_SOCKET="+path) }, "salt-minion")
	k.begin(first)
	k.tell("ready")
	for range 1000 { // far more than such a socket can hold
		k.tell("watchdog")
	}
	k.tell("stopping", "over", "exit0")
	k.end(0)
}

// TestInit: as process 1 the parent reaps orphaned processes, with and without --disable-keepalive.
func TestInit(t *testing.T) {
	for _, extra := range []string{"-l", "--disable-keepalive"} {
		k := start(t, func(c *exec.Cmd) { c.SysProcAttr.Cloneflags = syscall.CLONE_NEWPID }, "salt-minion", extra)
		k.begin(first)
		k.tell("ready", "orphan", "orphan", "orphan")
		for limit := time.Now().Add(patience); ; {
			list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", k.cmd.Process.Pid, k.cmd.Process.Pid))
			if err != nil {
				t.Skip(err)
			}
			if len(strings.Fields(string(list))) == 1 {
				break
			}
			if time.Now().After(limit) {
				t.Fatalf("children of process 1: %s", list)
			}
			<-time.After(time.Millisecond)
		}
		if extra == "-l" {
			k.tell("over")
		}
		k.tell("exit2")
		k.end(2)
	}
}

// TestSmall: the parent of an idle minion needs very little memory.
func TestSmall(t *testing.T) {
	k := start(t, nil, "salt-minion")
	k.begin(first)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", k.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var kb int
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			_, err = fmt.Sscan(rest, &kb)
		}
	}
	if t.Logf("%d kB", kb); err != nil || kb == 0 || kb > 6000 {
		t.Errorf("the parent has %d kB resident: %v", kb, err)
	}
	k.tell("over", "exit0")
	k.end(0)
}
