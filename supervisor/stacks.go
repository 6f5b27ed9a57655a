package supervisor

import (
	"fmt"
	"runtime"
	"strings"
)

// dumpMax bounds a dump of all goroutines, in bytes.
const dumpMax = 64 << 20

// dump is the stacks of all goroutines. It stops the world while it is made.
func dump() string {
	for size := 1 << 20; ; size *= 4 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size || size >= dumpMax {
			return string(buf[:n])
		}
	}
}

// Stack tells what the goroutines of the child at a path do right now: the one that works on its messages, and those
// of Go. It is empty while the child has nothing to do. The whole process stands still for the moment that it takes.
// "" and the root's name mean all goroutines of the process. Error: ErrUnknown.
func (s *Supervisor) Stack(path string) (string, error) {
	path = strings.TrimPrefix(path, s.path+"/")
	if path == "" || path == s.path {
		return dump(), nil
	}
	ref, ok := s.Lookup(path)
	if !ok {
		return "", fmt.Errorf("%s: %w", path, ErrUnknown)
	}
	inc := ref.living.Load()
	if inc == nil {
		return "", nil
	}
	return stacksOf(dump(), inc), nil
}

// The goroutines of an incarnation are found in a dump by the receiver of their lowest function: the trace prints
// the mailbox of mailbox.run, the incarnation of incarnation.task. Both receivers are in use after the call that
// hangs, so the trace has them; nothing has to be noted while messages are handled.

// stackOfMailbox is the stack of the goroutine that works on the messages of m, "" when none does.
func stackOfMailbox(all string, m *mailbox) string {
	return strings.Join(goroutinesWith(all, fmt.Sprintf("(*mailbox).run(%p", m)), "\n\n")
}

// stacksOf are the stacks of all goroutines of an incarnation.
func stacksOf(all string, inc *incarnation) string {
	some := goroutinesWith(all, fmt.Sprintf("(*mailbox).run(%p", inc.mailbox))
	return strings.Join(append(some, goroutinesWith(all, fmt.Sprintf("(*incarnation).task(%p", inc))...), "\n\n")
}

// goroutinesWith cuts out of a dump the goroutines whose trace contains a call.
func goroutinesWith(all, call string) (found []string) {
	for _, g := range strings.Split(all, "\n\n") {
		if strings.Contains(g, call) {
			found = append(found, trimStack(g))
		}
	}
	return found
}
