package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"brine/modules/host/program/custody"

	"golang.org/x/sys/unix"
)

// terminalRest is how long the rest of a terminal's output may take to arrive after its program ended.
const terminalRest = 200 * time.Millisecond

// terminal is a pseudo terminal: the program gets the far end.
type terminal struct {
	near, far *os.File
}

// openTerminal makes a pseudo terminal that passes output on unchanged.
func openTerminal() (*terminal, error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open a pseudo terminal: %v", err) // no errno of the program
	}
	near := os.NewFile(uintptr(fd), "/dev/ptmx")
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		_ = near.Close()
		return nil, fmt.Errorf("unlock a pseudo terminal: %v", err)
	}
	far, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		_ = near.Close()
		return nil, fmt.Errorf("open the far end of a pseudo terminal: %v", err)
	}
	if mode, err := unix.IoctlGetTermios(int(far.Fd()), unix.TCGETS); err == nil {
		mode.Oflag &^= unix.OPOST
		_ = unix.IoctlSetTermios(int(far.Fd()), unix.TCSETS, mode) // newlines come back as \r\n, no more
	}
	return &terminal{near: near, far: far}, nil
}

// runTerminal runs the program on two terminals of its own, one for input and output and one for errors.
func (s *Spec) runTerminal(ctx context.Context) (Result, error) {
	out, err := openTerminal()
	if err != nil {
		return Result{}, err
	}
	errs, err := openTerminal()
	if err != nil {
		_, _ = out.near.Close(), out.far.Close()
		return Result{}, err
	}
	stdout := collector{r: out.near, w: out.far, buf: capped{of: s.Output}}
	stderr := collector{r: errs.near, w: errs.far, buf: capped{of: s.Output}}
	proc := s.process()
	proc.Stdin, proc.Stdout, proc.Stderr = out.far, out.far, errs.far
	proc.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Credential: s.As}
	if err := s.start(proc, custody.Command); err != nil {
		stdout.abandon()
		stderr.abandon()
		return Result{}, err
	}
	stdout.begin()
	stderr.begin()
	return s.finishTerminal(ctx, proc, &stdout, &stderr)
}

func (s *Spec) finishTerminal(ctx context.Context, proc *exec.Cmd, stdout, stderr *collector) (Result, error) {
	done := make(chan struct{})
	go func() {
		reap(proc)
		close(done)
	}()
	killed, timedOut := s.await(ctx, done, proc.Process.Pid)
	<-done
	// A terminal has no end of file while another process holds it: what is there now is all there is.
	for _, c := range []*collector{stdout, stderr} {
		_ = c.r.SetReadDeadline(time.Now().Add(terminalRest))
		c.wait()
	}
	return result(ctx, proc, stdout, stderr, killed, timedOut)
}
