package cmdmod

import (
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"time"

	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// ran is the result of a command in the form all functions build on: pid, retcode, stdout, stderr.
type ran struct {
	*payload.Map
}

// retcode is the exit code; ok is false where there is none (background, timeout of a terminal).
func (r ran) retcode() (int64, bool) { return r.Int("retcode") }

// perform runs a command with these options, sets the job's exit code and logs as the reference does.
func perform(c *loader.Call, o *options, merge bool) (ran, error) {
	cmd, err := prepare(c, o, merge)
	if err != nil {
		return ran{}, err
	}
	r, ended, err := cmd.run()
	if err != nil || !ended {
		return r, err
	}
	cmd.setRetcode(r)
	cmd.logResult(r)
	return r, nil
}

// spec is the command as the runner of programs wants it.
func (cmd *command) spec() program.Spec {
	s := program.Spec{Argv: cmd.argv, Env: cmd.env, Dir: cmd.cwd, Umask: cmd.umask, Input: cmd.stdin, Merge: cmd.merge,
		Timeout: time.Duration(cmd.timeout * float64(time.Second)), Output: cmd.budget}
	if cmd.account != nil {
		s.As = cmd.account.Credential
	}
	return s
}

// run runs the command. ended is false for one that ran out of time: it leaves the job's exit code alone.
func (cmd *command) run() (r ran, ended bool, err error) {
	if cmd.bg {
		pid, err := program.Start(cmd.spec())
		if err != nil {
			return ran{}, false, cmd.startError(err)
		}
		return ran{payload.M("pid", int64(pid), "retcode", nil, "stdout", "", "stderr", "")}, true, nil
	}
	if cmd.vt {
		r, err := cmd.runTerminal()
		return r, true, err
	}
	out, err := program.Run(cmd.call.Ctx, cmd.spec())
	switch {
	case err != nil && out.PID == 0:
		return ran{}, false, cmd.startError(err)
	case err != nil:
		return ran{}, false, err
	case out.TimedOut:
		text := fmt.Sprintf("%s : Timed out after %s seconds", python.Str(cmd.shown), python.Str(cmd.timeoutBy))
		return ran{payload.M("stdout", text, "stderr", "", "retcode", int64(1), "pid", int64(out.PID))}, false, nil
	}
	r, err = cmd.finish(out)
	return r, true, err
}

// runTerminal runs the command on terminals (use_vt=True). Its output is not stripped; a timeout is told on standard
// error and leaves no exit code.
func (cmd *command) runTerminal() (ran, error) {
	line := python.Str(cmd.original)
	if list, ok := cmd.original.([]any); ok && len(list) > 0 {
		line = python.Str(list[0])
	}
	shell := cmd.shell
	if shell == "" {
		shell = "/bin/sh"
	}
	spec := cmd.spec()
	spec.Argv, spec.Terminal = []string{shell, "-c", line}, true
	out, err := program.Run(cmd.call.Ctx, spec)
	switch {
	case err != nil && out.PID == 0:
		return ran{}, cmd.startError(err)
	case err != nil:
		return ran{}, err
	}
	text, _, _ := decodeAs(out.Stdout, "")
	errText, _, _ := decodeAs(out.Stderr, "")
	text, errText = cmd.note(text, "stdout", out.Lost), cmd.note(errText, "stderr", out.LostErr)
	if out.TimedOut {
		errText = fmt.Sprintf("SALT: Timeout after %ss\n%s", python.Str(cmd.timeoutBy), errText)
		return ran{payload.M("pid", int64(out.PID), "stdout", text, "stderr", errText, "retcode", nil)}, nil
	}
	code := cmd.success.code(out.Code, text, errText)
	return ran{payload.M("pid", int64(out.PID), "stdout", text, "stderr", errText, "retcode", code)}, nil
}

// finish decodes the output and applies the rules of success.
func (cmd *command) finish(out program.Result) (ran, error) {
	stdout, err := cmd.decode(out.Stdout, "stdout")
	if err != nil {
		return ran{}, err
	}
	stderr, err := cmd.decode(out.Stderr, "stderr")
	if err != nil {
		return ran{}, err
	}
	if cmd.opt.Rstrip {
		stdout, stderr = rstrip(stdout), rstrip(stderr)
	}
	code := cmd.success.code(out.Code, stdout, stderr)
	stdout, stderr = cmd.note(stdout, "stdout", out.Lost), cmd.note(stderr, "stderr", out.LostErr)
	return ran{payload.M("pid", int64(out.PID), "retcode", code, "stdout", stdout, "stderr", stderr)}, nil
}

// textCut ends an output of which not all is there. Unlike Salt: it would fill the memory of the minion.
const textCut = "\nThe output was cut here: %d bytes more (command_output_max_bytes is %d)"

// note says at the end of an output that it was cut.
func (cmd *command) note(text, name string, lost int64) string {
	if lost == 0 {
		return text
	}
	cmd.call.Log(slog.LevelWarn, fmt.Sprintf("The %s of command '%s' was cut: %d bytes more "+
		"(command_output_max_bytes is %d)", name, python.Str(cmd.shown), lost, cmd.budget.Most))
	return text + fmt.Sprintf(textCut, lost, cmd.budget.Most)
}

// rstrip cuts what Python's str.rstrip cuts.
func rstrip(s string) string {
	return strings.TrimRightFunc(s, python.IsSpace)
}

func (cmd *command) setRetcode(r ran) {
	code, ok := r.retcode()
	if cmd.opt.IgnoreRetcode || cmd.bg {
		code = 0
	} else if !ok {
		code = 1 // a terminal that ran out of time has no code; it is no success
	}
	cmd.call.SetRetcode(int(code))
}

// startError tells why a program could not be started, with everything but its environment and input.
func (cmd *command) startError(err error) error {
	number, ok := program.Errno(err)
	if !ok {
		return err
	}
	shown := python.Str(cmd.shown)
	if cmd.quiet {
		shown = "REDACTED"
	}
	file := cmd.argv[0]
	if cmd.account != nil && number == syscall.EACCES && program.Executable(file) {
		file = cmd.cwd // the user may run the program, but not enter the directory
	}
	reason := loader.OSErrorText(number, file)
	if file == "" {
		reason += ": ''"
	}
	return loader.ExecErr("Unable to run command '%s' with the context '%s', reason: %s", shown,
		python.Repr(cmd.context()), reason)
}

// context is what the reference passes to subprocess, as far as its message shows it: -1 is a pipe, -2 stdout.
func (cmd *command) context() *payload.Map {
	stderr := int64(-1)
	if cmd.merge {
		stderr = -2
	}
	m := payload.M("cwd", cmd.cwd, "shell", cmd.useShell, "stdout", int64(-1), "stderr", stderr,
		"with_communicate", !cmd.bg, "timeout", cmd.timeoutBy, "bg", cmd.bg)
	if cmd.useShell {
		m.Set("executable", cmd.shell)
	}
	return m.Set("close_fds", true)
}

// logResult writes the lines about failure and output.
func (cmd *command) logResult(r ran) {
	if cmd.quiet {
		return
	}
	level := cmd.level
	code, _ := r.Get("retcode")
	if failed(code) && !cmd.opt.IgnoreRetcode && !cmd.bg {
		level = max(level, slog.LevelError)
		cmd.logFailure(code)
	}
	if s := r.Str("stdout"); s != "" {
		cmd.call.Log(level, "stdout: "+s)
	}
	if s := r.Str("stderr"); s != "" {
		cmd.call.Log(level, "stderr: "+s)
	}
	if python.Truth(code) {
		cmd.call.Log(level, "retcode: "+python.Str(code))
	}
}

func (cmd *command) logFailure(code any) { logFailure(cmd.call, cmd.original, code) }

func logFailure(c *loader.Call, original, code any) {
	name, _ := firstWord(original)
	c.Log(slog.LevelError, fmt.Sprintf("Command '%s' failed with return code: %s", name, python.Str(code)))
}

// failed tells whether an exit code, which may be none, is not 0.
func failed(code any) bool { return code != int64(0) }
