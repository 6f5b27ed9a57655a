package main

import (
	"errors"
	"fmt"
	"strings"

	"brine/cmd/optparse"
	"brine/config"
)

// The exit codes, all of them (salt/defaults/exitcodes.py, cli.md 5).
const (
	exitOK          = 0
	exitGeneric     = 1
	exitNoReturn    = 2  // salt: nothing returned, no way to sign in
	exitMissing     = 42 // salt: words are missing
	exitUsage       = optparse.ExitUsage
	exitNoUser      = 67
	exitUnavailable = 69
)

// exitError ends a tool with a code, after its text has gone to stderr.
type exitError struct {
	code int
	text string // with its line end; "" prints nothing
}

func (e *exitError) Error() string {
	return fmt.Sprintf("exit %d: %s", e.code, strings.TrimSpace(e.text))
}

// exit makes the error that ends a tool with a code and a line for stderr.
func exit(code int, format string, a ...any) error {
	text := fmt.Sprintf(format, a...)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return &exitError{code, text}
}

// finish prints what the tool's error has to say and returns the exit code. An error of no known kind is a fault of
// this machine (a disk, a socket) and is said in Salt's form.
func (c *call) finish(err error) int {
	var answered *optparse.Answered
	var usage *optparse.UsageError
	var ended *exitError
	var conf *config.Error
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &answered):
		fmt.Fprint(c.stdout, answered.Text)
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprint(c.stderr, usage.Report())
		return exitUsage
	case errors.As(err, &ended):
		fmt.Fprint(c.stderr, ended.text)
		return ended.code
	case errors.As(err, &conf):
		fmt.Fprintf(c.stderr, "[ERROR   ] %s\n", conf)
		return conf.Code
	}
	fmt.Fprintf(c.stderr, "Error: %s\n", err)
	return exitGeneric
}
