package supervisor

import (
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// inbox is the queue of user messages of one child. It outlives incarnations: the mailbox of an incarnation takes
// batches from it, and returns the messages that it did not handle. Senders append under a mutex; observers read atomic
// fields.
type inbox struct {
	limit      int // of waiting messages; 0: none
	hold       int // of messages kept while no incarnation lives
	nanos      func() int64
	quarantine *quarantine

	mu     sync.Mutex
	full   [][]item // not yet taken by the mailbox, oldest first: full chunks,
	in     []item   // and the last chunk
	closed bool

	cur     atomic.Pointer[mailbox] // of the living incarnation, nil between two; changed under mu
	inLen   atomic.Int64            // number of messages in full and in
	firstAt atomic.Int64            // arrival of the first of them
	taken   atomic.Uint64           // number of messages taken out
}

// item is a waiting message with its arrival, in nanoseconds of inbox.nanos.
type item struct {
	msg any
	at  int64
}

// chunk is the largest number of messages in one slice, so that a long queue grows without being copied.
const chunk = 512

// push appends a message and wakes the living incarnation. Errors: ErrGone, ErrMailboxFull.
func (q *inbox) push(msg any) error {
	now := q.nanos()
	q.mu.Lock()
	m := q.cur.Load()
	n := int(q.inLen.Load())
	switch {
	case q.closed:
		q.mu.Unlock()
		return ErrGone
	case q.crowded(m, n):
		q.mu.Unlock()
		return ErrMailboxFull
	case n == 0:
		q.firstAt.Store(now)
	}
	q.append(item{msg, now})
	q.inLen.Store(int64(n + 1))
	q.mu.Unlock()
	if m != nil {
		m.wake()
	}
	return nil
}

// crowded tells whether the n messages outside m are too many.
func (q *inbox) crowded(m *mailbox, n int) bool {
	if m == nil {
		return n >= q.hold || q.limit > 0 && n >= q.limit
	}
	return q.limit > 0 && n+m.waiting() >= q.limit
}

func (q *inbox) append(it item) {
	if size := len(q.in); size == cap(q.in) {
		if size >= chunk {
			q.full = append(q.full, q.in)
			q.in = make([]item, 0, chunk)
		} else {
			q.in = append(make([]item, 0, max(2*size, 2)), q.in...)
		}
	}
	q.in = append(q.in, it)
}

// attach makes m the mailbox that receives the messages.
func (q *inbox) attach(m *mailbox) {
	q.mu.Lock()
	q.cur.Store(m)
	q.mu.Unlock()
}

// refill moves the oldest full chunk into m, or all messages in exchange for m's empty buffer. It returns false if
// there are no messages, or m was detached.
func (q *inbox) refill(m *mailbox) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.cur.Load() != m || q.inLen.Load() == 0 {
		return false
	}
	if len(q.full) > 0 {
		m.items, q.full = q.full[0], q.full[1:]
	} else {
		m.items, q.in, q.full = q.in, m.items[:0], nil
	}
	m.next = 0
	m.size.Store(int64(len(m.items)))
	m.pos.Store(0)
	q.taken.Add(uint64(len(m.items)))
	q.left(-len(m.items))
	return true
}

// left updates inLen and firstAt after a change by n messages at the front.
func (q *inbox) left(n int) {
	q.inLen.Add(int64(n))
	switch {
	case len(q.full) > 0:
		q.firstAt.Store(q.full[0][0].at)
	case len(q.in) > 0:
		q.firstAt.Store(q.in[0].at)
	}
}

// detach takes the messages away from m, even while its handler hangs, and puts those that were not begun back in front
// of the queue. If m is handling a message, it returns that message and true. A second call does nothing.
func (q *inbox) detach(m *mailbox) (inHand any, hung bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.cur.Load() == m {
		q.cur.Store(nil)
	}
	pos := m.pos.Swap(detached)
	if pos < 0 {
		return nil, false
	}
	i := int(pos / 2)
	if pos%2 == 1 { // odd: item i is being handled
		inHand, hung = m.items[i].msg, true
		i++
	}
	if left := m.items[min(i, len(m.items)):]; len(left) > 0 {
		q.taken.Add(-uint64(len(left)))
		q.full = append([][]item{left}, q.full...)
		q.left(len(left))
	}
	return inHand, hung
}

// drain takes out all waiting messages; with closing it refuses all later ones.
func (q *inbox) drain(closing bool) []item {
	q.mu.Lock()
	defer q.mu.Unlock()
	var all []item
	for _, some := range append(q.full, q.in) {
		all = append(all, some...)
	}
	q.full, q.in = nil, nil
	q.inLen.Store(0)
	q.taken.Add(uint64(len(all)))
	q.closed = q.closed || closing
	return all
}

// depth is the number of waiting messages.
func (q *inbox) depth() int {
	n := int(q.inLen.Load())
	if m := q.cur.Load(); m != nil {
		n += m.waiting()
	}
	return n
}

// received counts all accepted messages.
func (q *inbox) received() uint64 { return q.taken.Load() + uint64(q.inLen.Load()) }

// oldest is the arrival of the oldest waiting message, 0 if none waits.
func (q *inbox) oldest() int64 {
	if m := q.cur.Load(); m != nil {
		if at := m.nextAt.Load(); at != 0 {
			return at
		}
	}
	if q.inLen.Load() == 0 {
		return 0
	}
	return q.firstAt.Load()
}

// unwrap takes a message out of the envelope of a request.
func unwrap(msg any) any {
	if env, ok := msg.(*actor.MessageEnvelope); ok {
		return env.Message
	}
	return msg
}

func typeName(msg any) string {
	if t := reflect.TypeOf(unwrap(msg)); t != nil {
		return t.String()
	}
	return ""
}
