package supervisor

import "slices"

// shutdown is kill_children as a pure state machine. Children are told to stop in reverse order of their start, each
// after the previous one has ended. After half of the time, all remaining ones are told at once. At the deadline, those
// that have not ended are abandoned.
type shutdown struct {
	queue   []string // not told yet, the next one first
	told    []string // told, but not ended
	hurried bool     // the first half of the time has passed
}

type haltEvent struct {
	kind haltKind
	name string
}

type haltKind uint8

const (
	haltBegin haltKind = iota
	haltEnded          // the child of that name has ended
	haltHalf           // half of the time has passed
	haltOver           // the deadline
)

// orders are the actions after an event of a shutdown: the children to tell, the children to abandon, and whether it is
// over.
type orders struct {
	tell, abandon []string
	finished      bool
}

// newShutdown gets the children in the order of their start.
func newShutdown(started []string) shutdown {
	queue := slices.Clone(started)
	slices.Reverse(queue)
	return shutdown{queue: queue}
}

func nextShutdown(s shutdown, e haltEvent) (shutdown, orders) {
	var o orders
	switch e.kind {
	case haltEnded:
		if told := without(s.told, e.name); len(told) < len(s.told) {
			s.told = told
		} else {
			s.queue = without(s.queue, e.name)
		}
	case haltHalf:
		s.hurried = true
	case haltOver:
		o.abandon = append(slices.Clone(s.told), s.queue...)
		s.queue, s.told = nil, nil
	}
	switch {
	case s.hurried:
		o.tell, s.queue = s.queue, nil
	case len(s.told) == 0 && len(s.queue) > 0:
		o.tell, s.queue = s.queue[:1], s.queue[1:]
	}
	s.told = slices.Concat(s.told, o.tell)
	o.finished = len(s.queue) == 0 && len(s.told) == 0
	return s, o
}

func without(names []string, name string) []string {
	i := slices.Index(names, name)
	if i < 0 {
		return names
	}
	return slices.Delete(slices.Clone(names), i, i+1)
}
