package program

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"brine/modules/host/openfiles"
	"brine/modules/host/program/custody"

	"brine/modules/host/environ"

	"golang.org/x/sys/unix"
)

// drainTime is how long output is still read after a kill: a process that left the group may hold the pipe open.
const drainTime = time.Second

// Run runs a program to its end. An error is that of the start (PID is 0 then), or the cause of the context, which
// ended before the program did. When it has ended already, nothing is started.
func Run(ctx context.Context, s Spec) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if s.Env == nil {
		s.Env = environ.Of(ctx).ForPrograms()
	}
	if s.Output == nil {
		s.Output = NewBudget(0)
	}
	if s.Terminal {
		return s.runTerminal(ctx)
	}
	stdout, stderr := collector{buf: capped{of: s.Output}}, collector{buf: capped{of: s.Output}}
	proc := s.process()
	if err := s.connect(proc, &stdout, &stderr); err != nil {
		return Result{}, err
	}
	if err := s.start(proc, custody.Command); err != nil {
		stdout.abandon()
		stderr.abandon()
		return Result{}, err
	}
	stdout.begin()
	stderr.begin()
	done := make(chan struct{})
	go func() {
		reap(proc)
		stdout.wait()
		stderr.wait()
		close(done)
	}()
	killed, timedOut := s.await(ctx, done, proc.Process.Pid)
	if killed {
		drain(done, &stdout, &stderr)
	}
	return result(ctx, proc, &stdout, &stderr, killed, timedOut)
}

// drain reads what is left of the output of a group that was killed.
func drain(done <-chan struct{}, stdout, stderr *collector) {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		stdout.abandon()
		stderr.abandon()
		<-done
	}
}

func result(ctx context.Context, proc *exec.Cmd, stdout, stderr *collector, killed, timedOut bool) (Result, error) {
	r := Result{PID: proc.Process.Pid, TimedOut: timedOut, Stdout: stdout.buf.buf.Bytes(),
		Stderr: stderr.buf.buf.Bytes(), Lost: stdout.buf.lost, LostErr: stderr.buf.lost}
	if killed && !timedOut {
		return r, context.Cause(ctx)
	}
	r.Code = exitCode(proc.ProcessState)
	return r, nil
}

// await blocks until the program ended or had to be killed.
func (s *Spec) await(ctx context.Context, done <-chan struct{}, pid int) (killed, timedOut bool) {
	var expired <-chan time.Time
	if s.Timeout > 0 {
		timer := time.NewTimer(s.Timeout)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-done:
		return false, false
	case <-expired:
		timedOut = true
	case <-ctx.Done():
	}
	_ = unix.Kill(-pid, unix.SIGKILL) // ESRCH: the group ended by itself
	return true, timedOut
}

// Start starts a program in the background and forgets it; it is reaped when it ends. Its output goes where that of
// this process goes. Input, Merge, Terminal, Timeout and Output of s mean nothing here.
func Start(s Spec) (pid int, err error) {
	proc := s.process()
	proc.Stdout, proc.Stderr = os.Stdout, os.Stderr
	if err := s.start(proc, 0); err != nil {
		return 0, err
	}
	pid = proc.Process.Pid
	go func() { _ = proc.Wait() }() // nobody asks how it ended
	return pid, nil
}

// process builds the exec.Cmd without its pipes.
func (s *Spec) process() *exec.Cmd {
	env := s.Env
	if env == nil {
		env = os.Environ()
	}
	path, err := lookPath(s.Argv[0], env)
	return &exec.Cmd{Path: path, Err: err, Args: s.Argv, Env: env, Dir: s.Dir,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Credential: s.As}}
}

// connect gives the program its standard files. Without input it reads from /dev/null, since it is in a process group
// of its own and a terminal would stop it.
func (s *Spec) connect(proc *exec.Cmd, stdout, stderr *collector) error {
	if s.Input != nil {
		proc.Stdin = strings.NewReader(*s.Input)
	}
	w, err := stdout.open()
	if err != nil {
		return err
	}
	proc.Stdout, proc.Stderr = w, w
	if s.Merge {
		return nil
	}
	if proc.Stderr, err = stderr.open(); err != nil {
		stdout.abandon()
	}
	return err
}

// start starts a program under its umask and niceness. Both belong to a thread, the umask once that thread stops
// sharing it, so the start happens on a thread that is thrown away afterwards. kind says how the program ends with this
// process; 0: it does not.
func (s *Spec) start(proc *exec.Cmd, kind custody.Kind) error {
	openfiles.Keep()
	if s.Umask == 0 && s.Nice == 0 {
		if kind == 0 {
			return proc.Start()
		}
		return custody.Start(proc, kind)
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		err := s.prepareThread()
		if err == nil {
			err = proc.Start()
		}
		if err == nil && kind != 0 {
			custody.Started(proc.Process.Pid, kind)
		}
		started <- err
	}()
	return <-started
}

// reap waits for the end of a program. Until its number is another's, it is out of custody.
func reap(proc *exec.Cmd) {
	awaitExit(proc.Process.Pid)
	custody.Over(proc.Process.Pid)
	_ = proc.Wait() // the exit code is in ProcessState
}

// prepareThread gives the thread what a program that is started on it takes over.
func (s *Spec) prepareThread() error {
	if s.Umask != 0 {
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			return err
		}
		unix.Umask(s.Umask)
	}
	if s.Nice == 0 {
		return nil
	}
	const zero = 20 // the system call gives 20 less the niceness, so that it is never negative
	now, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return err
	}
	return unix.Setpriority(unix.PRIO_PROCESS, 0, zero-now+s.Nice)
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
