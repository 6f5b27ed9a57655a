package program

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"

	"brine/modules/host/program/custody"

	"golang.org/x/sys/unix"
)

// Live is a program that is talked with while it runs. Who has opened it closes it, whatever became of it; Input,
// Output and Errors may then still be in use by other goroutines, whose calls end with an error.
type Live struct {
	PID    int
	Input  *os.File // the writing end of its standard input
	Output *os.File // what it writes to standard output, with Merge to both
	Errors *os.File // nil with Merge

	proc   *exec.Cmd
	exited chan struct{}
	code   int64
	once   sync.Once
}

// Open starts a program in a process group of its own, once what a process before this one has left running is gone;
// ctx bounds the wait for that. Input, Timeout, Terminal and the budget of s mean nothing here. The group is not bound
// to a context: Close ends it.
func Open(ctx context.Context, s Spec) (*Live, error) {
	if err := custody.Settled(ctx); err != nil {
		return nil, err
	}
	proc := s.process()
	l := &Live{proc: proc, exited: make(chan struct{})}
	theirs, err := l.connect(&s)
	if err == nil {
		err = s.start(proc, custody.Program)
	}
	for _, f := range theirs {
		_ = f.Close() // the program has its own copy
	}
	if err != nil {
		l.closePipes()
		return nil, err
	}
	l.PID = proc.Process.Pid
	go func() {
		defer close(l.exited)
		awaitExit(l.PID)
	}()
	return l, nil
}

// connect makes the pipes and gives those ends that are the program's.
func (l *Live) connect(s *Spec) (theirs []*os.File, err error) {
	pipe := func(ours **os.File, writes bool) (theirsEnd *os.File) {
		if err != nil {
			return nil
		}
		var r, w *os.File
		if r, w, err = os.Pipe(); err != nil {
			return nil
		}
		if *ours, theirsEnd = r, w; writes {
			*ours, theirsEnd = w, r
		}
		theirs = append(theirs, theirsEnd)
		return theirsEnd
	}
	// exec.Cmd takes interfaces: a nil *os.File in one would not be nil.
	if f := pipe(&l.Input, true); f != nil {
		l.proc.Stdin = f
	}
	if f := pipe(&l.Output, false); f != nil {
		l.proc.Stdout, l.proc.Stderr = f, f
	}
	if s.Merge {
		return theirs, err
	}
	if f := pipe(&l.Errors, false); f != nil {
		l.proc.Stderr = f
	}
	return theirs, err
}

// awaitExit blocks until a child has ended, and leaves it unreaped: as long as it is, nobody else gets its number or
// that of its group.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// Exited is closed when the program has ended. What it has started in its group may still run, and write.
func (l *Live) Exited() <-chan struct{} { return l.exited }

// Interrupt makes all reads and writes of the pipes end at once. Any goroutine may call it, any number of times.
func (l *Live) Interrupt() {
	for _, f := range []*os.File{l.Input, l.Output, l.Errors} {
		if f != nil {
			_ = f.SetDeadline(time.Now()) // closed: the calls have ended
		}
	}
}

// Close ends the group, and gives the exit code of the program, minus the signal where one ended it. A program that
// runs gets SIGTERM first, and as long as patience to end.
func (l *Live) Close(patience time.Duration) int64 {
	l.once.Do(func() {
		select {
		case <-l.exited:
		default:
			l.terminate(patience)
		}
		_ = unix.Kill(-l.PID, unix.SIGKILL) // ESRCH: nothing is left
		reap(l.proc)
		l.code = exitCode(l.proc.ProcessState)
		l.closePipes()
	})
	return l.code
}

func (l *Live) terminate(patience time.Duration) {
	_ = unix.Kill(-l.PID, unix.SIGTERM)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-l.exited:
	case <-timer.C:
	}
}

func (l *Live) closePipes() {
	for _, f := range []*os.File{l.Input, l.Output, l.Errors} {
		if f != nil {
			_ = f.Close()
		}
	}
}
