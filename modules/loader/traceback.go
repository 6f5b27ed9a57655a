package loader

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"brine/wire/python"
)

// panicked is a panic of a function, caught and carried as an error with its stack.
type panicked struct {
	value any
	stack []string // one line a frame, innermost last
}

func (p *panicked) Error() string { return fmt.Sprint(p.value) }

// guard runs fn and turns a panic into an error.
func guard(fn func() (any, error)) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, &panicked{value: r, stack: frames()}
		}
	}()
	return fn()
}

// frames lists where a recovered panic came from, "function at file:line", outermost first, from the guarded
// function down.
func frames() []string {
	pcs := make([]uintptr, 64)
	walk := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	var out []string
	for {
		f, more := walk.Next()
		switch {
		case f.Function == "runtime.gopanic" || f.Function == "runtime.sigpanic":
			out = nil // what is above is the machinery of the panic
		case strings.HasSuffix(f.Function, "modules.guard"):
			more = false
		default:
			out = append(out, fmt.Sprintf("  %s at %s:%d", f.Function, filepath.Base(f.File), f.Line))
		}
		if !more {
			slices.Reverse(out)
			return out
		}
	}
}

// Traceback is the text an error has where Salt shows a Python traceback: the heading, at least one line that
// says where, and "Class: message" with a newline at the end.
func Traceback(fun string, err error) string {
	var b strings.Builder
	b.WriteString("Traceback (most recent call last):\n")
	var p *panicked
	if errors.As(err, &p) && len(p.stack) > 0 {
		b.WriteString(strings.Join(p.stack, "\n"))
	} else {
		b.WriteString("  in " + fun)
	}
	b.WriteString("\n" + exceptionLine(err) + "\n")
	return b.String()
}

// exceptionLine is the last line of a traceback.
func exceptionLine(err error) string {
	class, text := ClassOf(err), Message(err)
	if text == "" {
		return class
	}
	return class + ": " + text
}

// Message is str() of the Python exception an error stands for.
func Message(err error) string {
	var missing *NotAvailable
	if errors.As(err, &missing) {
		return python.Repr(missing.Name)
	}
	if number, path, ok := asOSError(err); ok {
		return OSErrorText(number, path)
	}
	if ClassOf(err) == "salt.exceptions.SaltReqTimeoutError" {
		return "Message timed out"
	}
	return err.Error()
}

// ClassOf is the Python class an error stands for, as a traceback names it.
func ClassOf(err error) string {
	var (
		exec  *CommandExecutionError
		cmd   *CommandNotFoundError
		invoc *InvocationError
		cli   *ClientError
		arg   *ArgumentError
		na    *NotAvailable
		exc   *Exception
		crash *panicked
	)
	switch {
	case errors.As(err, &crash):
		return "RuntimeError"
	case errors.As(err, &exec):
		return "salt.exceptions.CommandExecutionError"
	case errors.As(err, &cmd):
		return "salt.exceptions.CommandNotFoundError"
	case errors.As(err, &invoc) && invoc.Class != "":
		return invoc.Class
	case errors.As(err, &invoc):
		return "salt.exceptions.SaltInvocationError"
	case errors.As(err, &cli):
		return "salt.exceptions.SaltClientError"
	case errors.As(err, &arg):
		return "TypeError"
	case errors.As(err, &na):
		return "KeyError"
	case errors.As(err, &exc):
		return exc.Class
	case errors.Is(err, ErrRequestTimeout):
		return "salt.exceptions.SaltReqTimeoutError"
	}
	if number, _, ok := asOSError(err); ok {
		return OSErrorClass(number)
	}
	return "Exception"
}
