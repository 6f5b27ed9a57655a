package supervisor

import (
	"fmt"
	"runtime"
	"runtime/pprof"
	"strings"
)

// dumpMax limits a dump of all goroutines, in bytes.
const dumpMax = 64 << 20

// dump returns the stacks of all goroutines. Meanwhile all other goroutines stand still.
func dump() string {
	for size := 1 << 20; ; size *= 4 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size || size >= dumpMax {
			return string(buf[:n])
		}
	}
}

// Stack returns the current stacks of the goroutines of the child at a path: the one that handles its messages, those
// of Go, and all that any of these has started, also in earlier incarnations. It is empty while the child has nothing
// to do. The whole process stands still for a moment. "" and the root's name mean all goroutines of the process. Error:
// ErrUnknown.
func (s *Supervisor) Stack(path string) (string, error) {
	path = strings.TrimPrefix(path, s.path+"/")
	if path == "" || path == s.path {
		return dump(), nil
	}
	ref, ok := s.Lookup(path)
	if !ok {
		return "", fmt.Errorf("%s: %w", path, ErrUnknown)
	}
	var found []string
	if inc := ref.living.Load(); inc != nil {
		found = stacksOf(dump(), inc)
	}
	return strings.Join(append(found, startedBy(profile(), ref.path)...), "\n\n"), nil
}

// labelActor is the label of goroutines with the path of their actor. A goroutine passes it on to every goroutine that
// it starts. CPU profiles contain it too.
const labelActor = "actor"

// profile is the runtime's list of goroutines with their labels.
func profile() string {
	var b strings.Builder
	if p := pprof.Lookup("goroutine"); p == nil || p.WriteTo(&b, 1) != nil {
		return ""
	}
	return b.String()
}

// startedBy finds in a profile the goroutines with the label of an actor that neither handle its messages nor belong to
// Go: a go statement in one of those has started them. Identical goroutines are grouped. Goroutines of protoactor's own
// mailboxes are left out, because they have the label of an actor that sent them a message.
func startedBy(profile, path string) (found []string) {
	label := fmt.Sprintf("%q:%q", labelActor, path)
	_, profile, _ = strings.Cut(profile, "\n") // the number of goroutines
	for _, g := range strings.Split(profile, "\n\n") {
		head, rest, _ := strings.Cut(g, "\n")
		labels, frames, _ := strings.Cut(rest, "\n")
		if !strings.HasPrefix(labels, "# labels: ") || !strings.Contains(labels, label) || strings.Contains(frames,
			"supervisor.(*mailbox).process") ||
			strings.Contains(frames, "supervisor.(*incarnation).task") || strings.Contains(frames,
			"actor.(*defaultMailbox).") {
			continue
		}
		n, _, _ := strings.Cut(head, " ")
		var b strings.Builder
		fmt.Fprintf(&b, "goroutines started by it: %s", n)
		for line := range strings.Lines(frames) { // #, address, function+offset, file:line
			if words := strings.Fields(line); len(words) == 4 {
				name, _, _ := strings.Cut(words[2], "+0x")
				fmt.Fprintf(&b, "\n%s\n\t%s", name, words[3])
			}
		}
		found = append(found, shorten(b.String(), stackMax))
	}
	return found
}

// The goroutines of an incarnation are found in a dump by the receiver of their lowest function: a trace shows the
// mailbox of mailbox.run, and the incarnation of incarnation.task. Both receivers are used after the call that hangs,
// so that the trace contains them. So nothing has to be recorded while messages are handled.

// stackOfMailbox returns the stack of the goroutine that handles the messages of m, or "".
func stackOfMailbox(all string, m *mailbox) string {
	return strings.Join(goroutinesWith(all, fmt.Sprintf("(*mailbox).run(%p", m)), "\n\n")
}

// stacksOf returns the stacks of all goroutines of an incarnation.
func stacksOf(all string, inc *incarnation) []string {
	some := goroutinesWith(all, fmt.Sprintf("(*mailbox).run(%p", inc.mailbox))
	return append(some, goroutinesWith(all, fmt.Sprintf("(*incarnation).task(%p", inc))...)
}

// goroutinesWith returns the goroutines of a dump whose trace contains a call.
func goroutinesWith(all, call string) (found []string) {
	for _, g := range strings.Split(all, "\n\n") {
		if strings.Contains(g, call) {
			found = append(found, trimStack(g))
		}
	}
	return found
}
