package supervisor

import (
	"context"
	"errors"
	"math"
	"reflect"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"

	"brine/supervisor/stats"

	"github.com/asynkron/protoactor-go/actor"
)

// mailbox is the mailbox of one incarnation: it has its own system messages, and takes user messages from the child's
// inbox in batches. It measures their handling. Unlike protoactor's mailbox it delivers no user message once the actor
// is stopping, has no MessageBatch, and survives runtime.Goexit in a handler.
type mailbox struct {
	inbox  *inbox
	stats  *stats.Counters // nil: do not measure
	lost   func(msg any, why error)
	killed func(msg any, reason string) // the actor died while it handled msg
	last   func()                       // called before the actor's end begins, whatever the cause
	stuck  *atomic.Int64                // number of goroutines that abandoned mailboxes still hold
	slow   int64                        // a handler that takes longer is reported to late, in nanoseconds
	late   func(msg any, n int, start, end int64)
	n      int             // number of the incarnation
	labels context.Context // with the label of the actor for the goroutine that handles the messages

	invoker    actor.MessageInvoker
	dispatcher actor.Dispatcher
	loop       func() // m.process, made once
	status     atomic.Int32
	cause      atomic.Pointer[cause] // of the first failure

	sysMu  sync.Mutex
	sys    []any
	sysLen atomic.Int32

	// Only for the goroutine that runs process:
	suspended bool         // after a failure
	ending    bool         // Stop was delivered
	lastType  reflect.Type // type of the last message in stats
	begun     int64        // when the last message was begun, as in stats
	next      int          // index in items
	items     []item       // the batch; observers must not read it

	stranded atomic.Int32 // see strand

	// 2 x index of the next item, plus 1 while the item before it is being handled; negative if detached
	pos    atomic.Int64
	size   atomic.Int64 // len(items)
	nextAt atomic.Int64 // arrival of the next item, 0 at the end of the batch
}

const (
	idle int32 = iota
	running
)

// Values of mailbox.stranded.
const (
	strandedNot   int32 = iota
	strandedTold        // counted as stuck
	strandedEnded       // the goroutine has ended
)

// detached is the value of pos after the messages were taken away; additions leave it negative.
const detached = math.MinInt64 / 2

var errGoexit = errors.New("runtime.Goexit in a handler")

// waiting is the number of items of the batch that are not begun.
func (m *mailbox) waiting() int {
	pos := m.pos.Load()
	if pos < 0 {
		return 0
	}
	return max(int(m.size.Load()-(pos+1)/2), 0)
}

func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, dispatcher actor.Dispatcher) {
	m.invoker, m.dispatcher, m.loop = invoker, dispatcher, m.process
}

// Start has nothing to do: see PostSystemMessage.
func (m *mailbox) Start() {}

// PostUserMessage receives messages that were sent to the incarnation's own PID. It delivers them like Ref.Send, so
// that a message for a dead incarnation reaches the next one. It ignores a poison pill for a dead incarnation.
func (m *mailbox) PostUserMessage(msg any) {
	if _, poison := msg.(*actor.PoisonPill); poison && m.pos.Load() < 0 {
		return
	}
	if err := m.inbox.push(msg); err != nil {
		m.lost(msg, err)
	}
}

// PostSystemMessage queues a message of the runtime. With the first one, Started, this mailbox receives the child's
// waiting messages. None of them overtakes Started, because system messages go first.
func (m *mailbox) PostSystemMessage(msg any) {
	m.sysMu.Lock()
	m.sys = append(m.sys, msg)
	m.sysLen.Store(int32(len(m.sys)))
	m.sysMu.Unlock()
	if _, first := msg.(*Started); first {
		m.inbox.attach(m)
	}
	m.wake()
}

func (m *mailbox) UserMessageCount() int { return m.inbox.depth() }

// wake makes sure that a goroutine processes the messages.
func (m *mailbox) wake() {
	if m.status.Load() == idle && m.status.CompareAndSwap(idle, running) {
		m.dispatcher.Schedule(m.loop)
	}
}

// strand counts the goroutine of an abandoned mailbox as stuck, until free says that it has ended. The mailbox is
// already detached. Of strand and free, the second one sees the result of the first: strand sees that the goroutine has
// ended, or free sees that it was counted.
func (m *mailbox) strand() {
	if m.status.Load() != running {
		return
	}
	m.stuck.Add(1)
	if !m.stranded.CompareAndSwap(strandedNot, strandedTold) {
		m.stuck.Add(-1)
	}
}

// free must be called when the goroutine is about to end.
func (m *mailbox) free() {
	if m.pos.Load() < 0 && m.stranded.Swap(strandedEnded) == strandedTold {
		m.stuck.Add(-1)
	}
}

// still tells whether nothing is being processed.
func (m *mailbox) still() bool { return m.status.Load() == idle }

// growStack gives the stack of a new goroutine the size that handlers need, while there is nothing on it to copy.
// Otherwise the stack would be copied at each doubling below a handler, again for every burst of messages.
//
//go:noinline
func growStack() {
	var room [8 << 10]byte
	runtime.KeepAlive(&room)
}

func (m *mailbox) process() {
	pprof.SetGoroutineLabels(m.labels) // the new goroutine has the labels of the message's sender
	growStack()
	for {
		m.run()
		m.rest()
		user := !m.suspended && !m.ending // read while still running: afterwards another goroutine may change them
		m.status.Store(idle)
		m.free()
		more := m.sysLen.Load() > 0 || user && m.inbox.cur.Load() == m && m.inbox.inLen.Load() > 0
		if !more || !m.status.CompareAndSwap(idle, running) {
			return
		}
	}
}

// rest makes sure that observers see no running handler.
func (m *mailbox) rest() {
	if c := m.counters(); c != nil {
		c.Idle(m.begun)
	}
}

// counters returns the counters, or nil after the messages were taken away: by then another incarnation may use them.
func (m *mailbox) counters() *stats.Counters {
	if m.pos.Load() < 0 {
		m.stats = nil
	}
	return m.stats
}

// run delivers messages until there are none left or a handler fails.
func (m *mailbox) run() {
	var hand any
	whole := false
	defer func() {
		if whole {
			return
		}
		if r := recover(); r != nil {
			m.fail(r, hand)
			return
		}
		m.fail(errGoexit, hand) // this goroutine is ending
		m.dispatcher.Schedule(m.loop)
	}()
	var now int64 // end of the previous message, 0 if the clock must be read
	for turn := 0; ; turn++ {
		if turn > m.dispatcher.Throughput() {
			turn = 0
			runtime.Gosched()
		}
		if m.sysLen.Load() > 0 {
			hand = m.popSystem()
			m.system(hand)
			hand, now = nil, 0
			continue
		}
		it, ok := m.take()
		if !ok {
			break
		}
		hand = it.msg
		if m.inbox.quarantine.some.Load() && m.inbox.quarantine.holds(unwrap(hand)) {
			m.setAside(hand)
			now = 0
		} else {
			now = m.deliver(it, now)
		}
		hand = nil
	}
	whole = true
}

// deliver gives one user message to the actor and returns the time at its end.
func (m *mailbox) deliver(it item, start int64) int64 {
	if m.stats == nil {
		m.invoker.InvokeUserMessage(it.msg)
		m.done()
		return 0
	}
	if start == 0 {
		start = m.inbox.nanos()
	}
	m.begin(start, it.msg)
	m.stats.Waiting.Record(start - it.at)
	m.invoker.InvokeUserMessage(it.msg)
	if !m.done() {
		return 0
	}
	end := m.inbox.nanos()
	m.stats.Handling.Record(end - start)
	m.stats.End(start, end)
	if end-start > m.slow {
		m.late(it.msg, m.n, start, end)
	}
	return end
}

// setAside refuses a message that has killed the actor twice.
func (m *mailbox) setAside(msg any) {
	if m.done() {
		m.lost(msg, ErrQuarantined)
	}
}

func (m *mailbox) begin(start int64, msg any) {
	t := reflect.TypeOf(unwrap(msg))
	if t == m.lastType {
		t = nil
	} else {
		m.lastType = t
	}
	m.begun = max(start, 1)
	m.stats.Begin(m.begun, t)
}

// take claims the next item.
func (m *mailbox) take() (item, bool) {
	if m.suspended || m.ending {
		return item{}, false
	}
	if m.next >= len(m.items) && !m.inbox.refill(m) {
		return item{}, false
	}
	if m.pos.Add(1) < 0 {
		return item{}, false
	}
	it := m.items[m.next]
	m.next++
	if m.next < len(m.items) {
		m.nextAt.Store(m.items[m.next].at)
	} else if m.nextAt.Load() != 0 {
		m.nextAt.Store(0)
	}
	return it, true
}

// done ends the claim of take. It returns false if the supervisor has meanwhile taken the message away and reported it;
// another incarnation may then use the counters.
func (m *mailbox) done() bool {
	if m.pos.Add(1) < 0 {
		m.stats = nil
		return false
	}
	m.items[m.next-1] = item{}
	return true
}

func (m *mailbox) popSystem() any {
	m.sysMu.Lock()
	defer m.sysMu.Unlock()
	msg := m.sys[0]
	m.sys = m.sys[1:]
	if len(m.sys) == 0 {
		m.sys = nil
	}
	m.sysLen.Store(int32(len(m.sys)))
	return msg
}

func (m *mailbox) system(msg any) {
	var start int64
	if m.counters() != nil {
		start = m.inbox.nanos()
		m.begin(start, msg)
	}
	switch msg.(type) {
	case *actor.SuspendMailbox:
		m.suspended = true
	case *actor.ResumeMailbox:
		m.suspended = false
	case *injected:
		m.invoker.InvokeUserMessage(msg)
	case *actor.Stop:
		m.ending = true
		m.last()
		m.invoker.InvokeSystemMessage(msg)
	default:
		m.invoker.InvokeSystemMessage(msg)
	}
	if c := m.counters(); c != nil {
		end := m.inbox.nanos()
		c.End(start, end)
		if end-start > m.slow {
			m.late(msg, m.n, start, end)
		}
	}
}

// fail tells the supervisor that a handler did not return, and that the current message is lost. It runs in the
// deferred call of the failing handler, so the stack of the failure still exists.
func (m *mailbox) fail(reason, hand any) {
	m.suspended = true // until the supervisor's answer
	c := newCause(reason, typeName(hand))
	m.cause.CompareAndSwap(nil, c)
	if c := m.counters(); c != nil {
		c.Failed.Add(1)
	}
	m.last()
	m.invoker.EscalateFailure(reason, hand)
	if m.pos.Load()%2 == 1 && m.done() {
		m.killed(hand, c.reason)
		m.lost(hand, c)
	}
}
