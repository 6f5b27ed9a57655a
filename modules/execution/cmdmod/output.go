package cmdmod

import (
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
)

// Output is what a program left that a function of another module ran.
type Output struct {
	Code           int64
	Stdout, Stderr string
}

// Lines are the lines of the standard output.
func (o Output) Lines() []string {
	return strings.FieldsFunc(o.Stdout, func(r rune) bool { return r == '\n' })
}

// RunAll runs a program for a function of another module, as that calls cmd.run_all through __salt__ in the reference:
// without a shell, with the same environment, exit code of the job and log lines. more are further arguments of
// cmd.run_all; they may be nil. Unlike Salt: the function needs no cmd.run_all, so that disable_modules may take that
// from those who call it by name.
func RunAll(c *loader.Call, argv []string, more *payload.Map) (Output, error) {
	o := optionsOf(argv, more)
	r, err := perform(c, o, o.RedirectStderr)
	if err != nil {
		return Output{}, err
	}
	code, _ := r.retcode()
	return Output{Code: code, Stdout: r.Str("stdout"), Stderr: r.Str("stderr")}, nil
}

// Run is RunAll for what calls cmd.run: it gives the output, with standard error in it.
func Run(c *loader.Call, argv []string, more *payload.Map) (string, error) {
	o := optionsOf(argv, more)
	o.RedirectStderr = true
	text, err := runMerged(c, o)
	return loader.Text(text), err
}

// optionsOf are the options of a program that a function of another module runs.
func optionsOf(argv []string, more *payload.Map) *options {
	kw := payload.M("cmd", payload.AnyList(argv), "python_shell", false, "output_loglevel", "trace")
	kw.Update(more)
	return common(kw)
}

// Operand refuses callers' words that a program would take for options. A module that puts a name into a command line
// asks first: an option can have the program read any file, or reach any machine, with the rights of the minion.
func Operand(words ...string) error {
	for _, word := range words {
		if strings.HasPrefix(word, "-") {
			return loader.ExecErr("'%s' is no name: it would be taken for an option", word)
		}
	}
	return nil
}
