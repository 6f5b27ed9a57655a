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
