package supervisor

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"unicode/utf8"
)

// Limits for the stored data of a death, in bytes.
const (
	stackMax  = 4096
	reasonMax = 1024
)

// cause is the reason of an incarnation's death. As an error it is ErrCrashed.
type cause struct {
	value   any // of the panic
	reason  string
	message string // type of the message that was being handled
	stack   string
}

// newCause must be called in the deferred call of a failing handler.
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

// plumbing begins the first frame below the actor, beneath the first one of the runtime below that.
const (
	plumbing = "\nbrine/supervisor.(*guard)."
	beneath  = "\ngithub.com/asynkron/protoactor-go/"
)

// trimStack removes the frames above the panic, those below the actor, and those beyond stackMax.
func trimStack(s string) string {
	if i := strings.LastIndex(s, "\npanic("); i >= 0 {
		lines := strings.SplitN(s[i+1:], "\n", 3) // panic(...), its position, the other frames
		s = lines[len(lines)-1]
	}
	if i := strings.Index(s, plumbing); i >= 0 && strings.Contains(s[:i], "\n") {
		s = s[:i]
	} else if i := strings.Index(s, beneath); i >= 0 { // the panic was in the guard itself
		s = s[:i]
	}
	return shorten(s, stackMax)
}

// shorten cuts a text at a character boundary.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
