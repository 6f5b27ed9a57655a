package supervisor

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"unicode/utf8"
)

// Bounds of what is kept of a death, in bytes.
const (
	stackMax  = 4096
	reasonMax = 1024
)

// cause is why an incarnation died. As an error it is ErrCrashed.
type cause struct {
	value   any // of the panic
	reason  string
	message string // type of the message in hand
	stack   string
}

// newCause is called in the deferred call of a failing handler.
func newCause(reason any, message string) *cause {
	c := &cause{value: reason, reason: shorten(fmt.Sprint(reason), reasonMax), message: message}
	if t := new(taskError); asTask(reason, &t) {
		c.stack = t.stack
	} else {
		c.stack = trimStack(string(debug.Stack()))
	}
	return c
}

func asTask(reason any, t **taskError) bool {
	err, ok := reason.(error)
	return ok && errors.As(err, t)
}

func (c *cause) Error() string        { return fmt.Sprintf("%v: %s", ErrCrashed, c.reason) }
func (c *cause) Is(target error) bool { return target == ErrCrashed }

// Where the frames of the actor end, and where those of the runtime below it begin.
const (
	plumbing = "\nbrine/supervisor.(*guard)."
	beneath  = "\ngithub.com/asynkron/protoactor-go/"
)

// trimStack cuts the frames above the panic, those below the actor, and those beyond stackMax.
func trimStack(s string) string {
	if i := strings.LastIndex(s, "\npanic("); i >= 0 {
		lines := strings.SplitN(s[i+1:], "\n", 3) // panic(...), its position, the rest
		s = lines[len(lines)-1]
	}
	if i := strings.Index(s, plumbing); i >= 0 && strings.Contains(s[:i], "\n") {
		s = s[:i]
	} else if i := strings.Index(s, beneath); i >= 0 { // it is in the guard itself
		s = s[:i]
	}
	return shorten(s, stackMax)
}

// shorten cuts a text, between two characters of it.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
