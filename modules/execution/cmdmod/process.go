package cmdmod

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"brine/modules/host/openfiles"

	"golang.org/x/sys/unix"
)

// drainTime is how long output is still read after a kill: a process that left the group may hold the pipe open.
const drainTime = time.Second

// outcome is what a program left.
type outcome struct {
	pid            int
	code           int64 // minus the signal where one ended it
	stdout, stderr []byte
	lost, lostErr  int64 // bytes that were cut off them
	timedOut       bool
}

// execute runs the command to its end, kills its group at the timeout or at the end of the job's context, and
// reads its output meanwhile. The error is that of the start, or the cause of the context.
func (cmd *command) execute() (outcome, error) {
	stdout, stderr := collector{buf: capped{of: cmd.budget}}, collector{buf: capped{of: cmd.budget}}
	proc := cmd.process()
	if err := cmd.connect(proc, &stdout, &stderr); err != nil {
		return outcome{}, err
	}
	if err := startWith(proc, cmd.umask); err != nil {
		stdout.abandon()
		stderr.abandon()
		return outcome{}, err
	}
	stdout.begin()
	stderr.begin()
	out := outcome{pid: proc.Process.Pid}
	done := make(chan struct{})
	go func() {
		_ = proc.Wait() // the exit code is in ProcessState
		stdout.wait()
		stderr.wait()
		close(done)
	}()
	killed := cmd.await(done, out.pid, &out)
	if killed {
		select {
		case <-done:
		case <-time.After(drainTime):
			stdout.abandon()
			stderr.abandon()
			<-done
		}
	}
	out.stdout, out.stderr = stdout.bytes(), stderr.bytes()
	out.lost, out.lostErr = stdout.buf.lost, stderr.buf.lost
	if !out.timedOut && killed {
		return out, context.Cause(cmd.call.Ctx)
	}
	out.code = exitCode(proc.ProcessState)
	return out, nil
}

// await blocks until the program ended or had to be killed; true when it was killed.
func (cmd *command) await(done <-chan struct{}, pid int, out *outcome) bool {
	var expired <-chan time.Time
	if cmd.timeout > 0 {
		timer := time.NewTimer(time.Duration(cmd.timeout * float64(time.Second)))
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-done:
		return false
	case <-expired:
		out.timedOut = true
	case <-cmd.call.Ctx.Done():
	}
	_ = unix.Kill(-pid, unix.SIGKILL) // ESRCH: the group ended by itself
	return true
}

// process builds the exec.Cmd without its pipes.
func (cmd *command) process() *exec.Cmd {
	path := cmd.argv[0]
	if found, err := lookPath(cmd.argv[0], cmd.env); err == nil {
		path = found
	}
	proc := &exec.Cmd{Path: path, Args: cmd.argv, Env: cmd.env, Dir: cmd.cwd,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if cmd.account != nil {
		proc.SysProcAttr.Credential = cmd.account.credential
	}
	return proc
}

// connect gives the program its standard files. Unlike Salt: without stdin it reads from /dev/null, since it is
// in a process group of its own and a terminal would stop it.
func (cmd *command) connect(proc *exec.Cmd, stdout, stderr *collector) error {
	if cmd.stdin != nil {
		proc.Stdin = bytes.NewReader([]byte(*cmd.stdin))
	}
	w, err := stdout.open()
	if err != nil {
		return err
	}
	proc.Stdout, proc.Stderr = w, w
	if cmd.merge {
		return nil
	}
	if proc.Stderr, err = stderr.open(); err != nil {
		stdout.abandon()
	}
	return err
}

// startBackground starts the command and forgets it; it is reaped when it ends.
func (cmd *command) startBackground() (int, error) {
	proc := cmd.process()
	proc.Stdout, proc.Stderr = os.Stdout, os.Stderr
	if err := startWith(proc, cmd.umask); err != nil {
		return 0, err
	}
	pid := proc.Process.Pid
	go func() { _ = proc.Wait() }() // nobody asks how it ended
	return pid, nil
}

// startWith starts a program under a umask. The umask belongs to a thread once that thread stops sharing it, so
// the start happens on a thread that is thrown away afterwards. No open file of this process goes with it.
func startWith(proc *exec.Cmd, umask int) error {
	openfiles.Keep()
	if umask < 0 {
		return proc.Start()
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			started <- err
			return
		}
		unix.Umask(umask)
		started <- proc.Start()
	}()
	return <-started
}

func exitCode(state *os.ProcessState) int64 {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -int64(status.Signal())
	}
	return int64(state.ExitCode())
}

// collector reads one output of a program into memory, to its end even where not all of it is kept.
type collector struct {
	r, w *os.File
	buf  capped
	done chan struct{}
	once sync.Once
}

// open makes the pipe and gives its writing end.
func (c *collector) open() (*os.File, error) {
	var err error
	c.r, c.w, err = os.Pipe()
	return c.w, err
}

// begin closes the writing end, which now is the program's alone, and starts reading.
func (c *collector) begin() {
	if c.r == nil {
		return
	}
	_ = c.w.Close() // the program has its own copy
	c.done = make(chan struct{})
	go func() {
		defer close(c.done)
		_, _ = io.Copy(&c.buf, c.r) // ends at EOF, or with an error when abandoned
	}()
}

func (c *collector) wait() {
	if c.done != nil {
		<-c.done
		c.close()
	}
}

// abandon ends reading at once.
func (c *collector) abandon() {
	if c.r == nil {
		return
	}
	if c.done == nil {
		_ = c.w.Close() // nothing was started
		c.close()
		return
	}
	_ = c.r.SetReadDeadline(time.Now())
}

func (c *collector) close() { c.once.Do(func() { _ = c.r.Close() }) }

func (c *collector) bytes() []byte { return c.buf.buf.Bytes() }

// errno finds the error number behind an error of a start.
func errno(err error) (syscall.Errno, bool) {
	var n syscall.Errno
	ok := errors.As(err, &n)
	return n, ok
}
