package supervisor

import (
	"fmt"
	"runtime"
	"runtime/pprof"
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

// Stack tells what the goroutines of the child at a path do right now: the one that works on its messages, those
// of Go, and those that any of these has started, also in a life before. It is empty while the child has nothing to do.
// The whole process stands still for the moment that it takes. "" and the root's name mean all goroutines of the
// process. Error: ErrUnknown.
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

// labelActor is the label of goroutines that names the path of their actor. The runtime hands it on to every
// goroutine that one with it starts. CPU profiles have it, too.
const labelActor = "actor"

// profile is the runtime's list of goroutines with their labels.
func profile() string {
	var b strings.Builder
	if p := pprof.Lookup("goroutine"); p == nil || p.WriteTo(&b, 1) != nil {
		return ""
	}
	return b.String()
}

// startedBy finds in a profile the goroutines with the label of an actor that are neither at work on its messages nor
// of Go: they were begun by a go statement in one that is. Goroutines that do the same stand together. Those of
// protoactor's mailboxes have the label of whoever sent them a message.
func startedBy(profile, path string) (found []string) {
	label := fmt.Sprintf("%q:%q", labelActor, path)
	_, profile, _ = strings.Cut(profile, "\n") // their number
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

// The goroutines of an incarnation are found in a dump by the receiver of their lowest function: the trace prints
// the mailbox of mailbox.run, the incarnation of incarnation.task. Both receivers are in use after the call that
// hangs, so the trace has them; nothing has to be noted while messages are handled.

// stackOfMailbox is the stack of the goroutine that works on the messages of m, "" when none does.
func stackOfMailbox(all string, m *mailbox) string {
	return strings.Join(goroutinesWith(all, fmt.Sprintf("(*mailbox).run(%p", m)), "\n\n")
}

// stacksOf are the stacks of all goroutines of an incarnation.
func stacksOf(all string, inc *incarnation) []string {
	some := goroutinesWith(all, fmt.Sprintf("(*mailbox).run(%p", inc.mailbox))
	return append(some, goroutinesWith(all, fmt.Sprintf("(*incarnation).task(%p", inc))...)
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
