package supervisor

import (
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// inbox is the queue of user messages of one child. It outlives incarnations: each one's mailbox takes
// batches out of it, and gives back what it did not handle. Producers append under a mutex; the fields that
// observers read are atomics.
type inbox struct {
	limit int // of waiting messages, 0 is none
	hold  int // of messages kept while no incarnation lives
	nanos func() int64

	mu     sync.Mutex
	in     []item // not yet taken by the mailbox, oldest first
	closed bool

	cur     atomic.Pointer[mailbox] // of the living incarnation, nil between two; changed under mu
	inLen   atomic.Int64            // len(in)
	firstAt atomic.Int64            // in[0].at
	taken   atomic.Uint64           // messages that left in
}

// item is a waiting message with the time it came, in nanoseconds of inbox.nanos.
type item struct {
	msg any
	at  int64
}

// spare is the largest buffer, in messages, that is kept after a burst.
const spare = 1024

// push appends a message and wakes the incarnation that lives. Errors: ErrGone, ErrMailboxFull.
func (q *inbox) push(msg any) error {
	now := q.nanos()
	q.mu.Lock()
	m := q.cur.Load()
	switch n := len(q.in); {
	case q.closed:
		q.mu.Unlock()
		return ErrGone
	case m == nil && n >= q.hold, q.limit > 0 && m != nil && n+m.waiting() >= q.limit, q.limit > 0 && n >= q.limit:
		q.mu.Unlock()
		return ErrMailboxFull
	case n == 0:
		q.firstAt.Store(now)
	}
	q.in = append(q.in, item{msg, now})
	q.inLen.Store(int64(len(q.in)))
	q.mu.Unlock()
	if m != nil {
		m.wake()
	}
	return nil
}

// attach makes m the mailbox that takes the messages.
func (q *inbox) attach(m *mailbox) {
	q.mu.Lock()
	q.cur.Store(m)
	q.mu.Unlock()
}

// refill moves everything that waits into m, in exchange for its empty buffer. False: nothing there, or m
// was detached.
func (q *inbox) refill(m *mailbox) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.cur.Load() != m || len(q.in) == 0 {
		return false
	}
	empty := m.items[:0]
	if cap(empty) > spare {
		empty = nil
	}
	m.items, q.in = q.in, empty
	m.next = 0
	m.size.Store(int64(len(m.items)))
	m.pos.Store(0)
	q.taken.Add(uint64(len(m.items)))
	q.inLen.Store(0)
	return true
}

// detach takes the messages away from m, even while its handler hangs, and puts those not begun back in
// front of the queue. It returns the message in hand, if m is working on one. A second call does nothing.
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
	if pos%2 == 1 { // odd: item i is in hand
		inHand, hung = m.items[i].msg, true
		i++
	}
	if left := m.items[min(i, len(m.items)):]; len(left) > 0 {
		q.taken.Add(-uint64(len(left)))
		q.in = append(append(make([]item, 0, len(left)+len(q.in)), left...), q.in...)
		q.firstAt.Store(q.in[0].at)
		q.inLen.Store(int64(len(q.in)))
	}
	return inHand, hung
}

// drain takes out everything that waits; with closing it refuses all that comes later.
func (q *inbox) drain(closing bool) []item {
	q.mu.Lock()
	defer q.mu.Unlock()
	left := q.in
	q.in = nil
	q.inLen.Store(0)
	q.taken.Add(uint64(len(left)))
	q.closed = q.closed || closing
	return left
}

// depth is the number of messages waiting.
func (q *inbox) depth() int {
	n := int(q.inLen.Load())
	if m := q.cur.Load(); m != nil {
		n += m.waiting()
	}
	return n
}

// received counts every message that was let in.
func (q *inbox) received() uint64 { return q.taken.Load() + uint64(q.inLen.Load()) }

// oldest is the time the oldest waiting message came, 0 when none waits.
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

// unwrap takes a message out of the envelope a request travels in.
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
