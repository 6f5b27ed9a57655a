package reqserver

import (
	"slices"

	"brine/modules/fleet/door"
	"brine/supervisor"
)

// lane is the state of one pool: workers without work, or work without workers, never both. Requests on connections
// that have shown nothing yet have a line of their own, in which every address has its turn; the two lines take turns.
type lane struct {
	idle      []*supervisor.Ref
	waiting   []*Request
	strangers door.Queue[*Request]
	theirTurn bool // the next is a stranger's
}

func (l *lane) length() int { return len(l.waiting) + l.strangers.Len() }

func (l *lane) push(r *Request) {
	if r.isStranger() {
		l.strangers.Push(r.From, r)
		return
	}
	l.waiting = append(l.waiting, r)
}

// pop takes the next request, nil when none waits.
func (l *lane) pop() *Request {
	if l.strangers.Len() > 0 && (l.theirTurn || len(l.waiting) == 0) {
		l.theirTurn = false
		return l.strangers.Pop()
	}
	if len(l.waiting) == 0 {
		return nil
	}
	r := l.waiting[0]
	l.waiting[0] = nil
	l.waiting, l.theirTurn = l.waiting[1:], true
	return r
}

// remove takes out requests for which gone is true.
func (l *lane) remove(gone func(*Request) bool) {
	l.waiting = slices.DeleteFunc(l.waiting, gone)
	l.strangers.DeleteFunc(gone)
}

func (l *lane) each(see func(*Request)) {
	for _, r := range l.waiting {
		see(r)
	}
	l.strangers.Each(see)
}

// isStranger tells whether the connection of a request had shown nothing when it came, and the request has not since.
func (r *Request) isStranger() bool {
	o := r.Opened.Load()
	return r.stranger && (o == nil || o.Clear)
}
