package cmdmod

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// terminal is a pseudo terminal: the program gets the far end.
type terminal struct {
	near, far *os.File
}

// openTerminal makes a pseudo terminal that passes output on unchanged.
func openTerminal() (*terminal, error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open a pseudo terminal: %w", err)
	}
	near := os.NewFile(uintptr(fd), "/dev/ptmx")
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		_ = near.Close()
		return nil, fmt.Errorf("unlock a pseudo terminal: %w", err)
	}
	far, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		_ = near.Close()
		return nil, fmt.Errorf("open the far end of a pseudo terminal: %w", err)
	}
	if mode, err := unix.IoctlGetTermios(int(far.Fd()), unix.TCGETS); err == nil {
		mode.Oflag &^= unix.OPOST
		_ = unix.IoctlSetTermios(int(far.Fd()), unix.TCSETS, mode) // newlines come back as \r\n, no more
	}
	return &terminal{near: near, far: far}, nil
}

// runTerminal runs the command on two terminals of its own (use_vt=True), one for input and output and one for
// errors. Its output is not stripped; a timeout is told on standard error and leaves no exit code.
func (cmd *command) runTerminal() (ran, error) {
	out, err := openTerminal()
	if err != nil {
		return ran{}, err
	}
	errs, err := openTerminal()
	if err != nil {
		_ = out.near.Close()
		_ = out.far.Close()
		return ran{}, err
	}
	stdout := collector{r: out.near, w: out.far, buf: capped{of: cmd.budget}}
	stderr := collector{r: errs.near, w: errs.far, buf: capped{of: cmd.budget}}
	proc := cmd.terminalProcess(out, errs)
	if err := startWith(proc, cmd.umask); err != nil {
		stdout.abandon()
		stderr.abandon()
		return ran{}, cmd.startError(err)
	}
	stdout.begin()
	stderr.begin()
	return cmd.finishTerminal(proc, &stdout, &stderr)
}

func (cmd *command) terminalProcess(out, errs *terminal) *exec.Cmd {
	line := pytext.Str(cmd.original)
	if list, ok := cmd.original.([]any); ok && len(list) > 0 {
		line = pytext.Str(list[0])
	}
	shell := cmd.shell
	if shell == "" {
		shell = "/bin/sh"
	}
	proc := &exec.Cmd{Path: shell, Args: []string{shell, "-c", line}, Env: cmd.env, Dir: cmd.cwd,
		Stdin: out.far, Stdout: out.far, Stderr: errs.far,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true}}
	if cmd.account != nil {
		proc.SysProcAttr.Credential = cmd.account.credential
	}
	return proc
}

func (cmd *command) finishTerminal(proc *exec.Cmd, stdout, stderr *collector) (ran, error) {
	result := outcome{pid: proc.Process.Pid}
	done := make(chan struct{})
	go func() {
		_ = proc.Wait() // the exit code is in ProcessState
		close(done)
	}()
	killed := cmd.await(done, result.pid, &result)
	<-done
	// A terminal has no end of file while another process holds it: what is there now is all there is.
	for _, c := range []*collector{stdout, stderr} {
		_ = c.r.SetReadDeadline(time.Now().Add(terminalRest))
		c.wait()
	}
	if killed && !result.timedOut {
		return ran{}, context.Cause(cmd.call.Ctx)
	}
	text, _, _ := decodeAs(stdout.bytes(), "")
	errText, _, _ := decodeAs(stderr.bytes(), "")
	text, errText = cmd.note(text, "stdout", stdout.buf.lost), cmd.note(errText, "stderr", stderr.buf.lost)
	if result.timedOut {
		errText = fmt.Sprintf("SALT: Timeout after %ss\n%s", pytext.Str(cmd.timeoutBy), errText)
		return ran{payload.M("pid", int64(result.pid), "stdout", text, "stderr", errText, "retcode", nil)}, nil
	}
	code := cmd.success.code(exitCode(proc.ProcessState), text, errText)
	return ran{payload.M("pid", int64(result.pid), "stdout", text, "stderr", errText, "retcode", code)}, nil
}

// terminalRest is how long the rest of a terminal's output may take to arrive after its program ended.
const terminalRest = 200 * time.Millisecond
