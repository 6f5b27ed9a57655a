package tool

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"brine/cmd/optparse"
	"brine/config"
)

// These are the exit codes that several tools share (salt/defaults/exitcodes.py, cli.md 5).
const (
	ExitOK          = 0
	ExitGeneric     = 1
	ExitNoReturn    = 2  // salt: no minion returned, or the user cannot be authenticated
	ExitMissing     = 42 // salt: arguments are missing
	ExitUsage       = optparse.ExitUsage
	ExitNoUser      = 67
	ExitUnavailable = 69
)

// ExitError ends a tool with a code. Its text goes to stderr before that.
type ExitError struct {
	code  int
	Text  string // with its line end; "" prints nothing
	cause error  // an error of the machine; nil: the tool ends on purpose
}

// Unwrap returns the error of the machine that ends the tool.
func (e *ExitError) Unwrap() error { return e.cause }

func (e *ExitError) Error() string {
	return fmt.Sprintf("exit %d: %s", e.code, strings.TrimSpace(e.Text))
}

// Exit makes the error that ends a tool with a code and a line for stderr.
func Exit(code int, format string, a ...any) error {
	text := fmt.Sprintf(format, a...)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return &ExitError{code: code, Text: text}
}

// ExitFor is Exit for an error of the machine, such as that of a disk or a port.
func ExitFor(cause error, code int, format string, a ...any) error {
	e := &ExitError{}
	errors.As(Exit(code, format, a...), &e)
	e.cause = cause
	return e
}

// MayPass tells whether a daemon that ends with this error may be able to start later. The error must be one of
// the machine (a full disk, no free descriptor, a used port), and not one of the command line or the
// configuration.
func MayPass(err error) bool {
	var answered *optparse.Answered
	var usage *optparse.UsageError
	var ended *ExitError
	var all config.Faults
	var conf *config.Error
	var errno syscall.Errno
	switch {
	case err == nil, errors.As(err, &answered), errors.As(err, &usage):
		return false
	case errors.As(err, &errno):
		return true
	}
	return !errors.As(err, &ended) && !errors.As(err, &all) && !errors.As(err, &conf)
}

// Finish prints the text of the tool's error and returns the exit code. An error of an unknown kind is a fault
// of this machine (a disk, a socket) and is printed in Salt's form.
func (c *Call) Finish(err error) int {
	var answered *optparse.Answered
	var usage *optparse.UsageError
	var ended *ExitError
	var all config.Faults
	var conf *config.Error
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &answered):
		fmt.Fprint(c.Stdout, answered.Text)
		return ExitOK
	case errors.As(err, &usage):
		fmt.Fprint(c.Stderr, usage.Report())
		return ExitUsage
	case errors.As(err, &ended):
		fmt.Fprint(c.Stderr, ended.Text)
		return ended.code
	case errors.As(err, &all):
		for _, fault := range all {
			fmt.Fprintf(c.Stderr, "[ERROR   ] %s\n", fault)
		}
		return all[0].Code
	case errors.As(err, &conf):
		fmt.Fprintf(c.Stderr, "[ERROR   ] %s\n", conf)
		return conf.Code
	}
	fmt.Fprintf(c.Stderr, "Error: %s\n", err)
	return ExitGeneric
}
