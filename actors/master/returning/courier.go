package returning

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"brine/modules/returners"
	"brine/modules/returners/queue"
	"brine/supervisor"
	"brine/wire/payload"
)

// Messages of EventReturn and JobCache.
type (
	// KeepRecord puts a record into the queue.
	KeepRecord struct {
		Body []byte
		part *Part
		kept atomic.Bool
		left atomic.Bool
	}
	// RecordsWait makes it look at the queue.
	RecordsWait struct{ part *Part }
	// AwaitHanded calls Done when a returner has the records before End, or fails. Whoever finds that the message is
	// lost calls it, too; it must not block.
	AwaitHanded struct {
		Returner string
		End      uint64
		Done     func(error)
	}
	// recordsHanded is the outcome of a call.
	recordsHanded struct {
		of       int // the incarnation that has called
		returner string
		items    []queue.Item
		taken    int  // of items, from the first
		got      bool // something is behind it
		err      error
		skipped  queue.Item // that this call left out, because it may be what the returner fails of; Body nil: none
	}
	// returnerRested says that a returner which failed may be called again.
	returnerRested struct {
		of       int // the incarnation that lets it rest
		returner string
	}
	// recordsRipe hands over what is before a number, however few they are.
	recordsRipe struct{ end uint64 }
	// recordsDropped says that a returner does not get some.
	recordsDropped struct{ data *payload.Map }
	// expireRecords drops what is too old.
	expireRecords struct{}
)

// Lost keeps a record of which an incarnation has died, or that comes when the actor has ended.
func (m *KeepRecord) Lost(why error) {
	if !m.kept.Swap(true) {
		m.part.keep(m.Body)
	}
	m.leave()
}

func (m *KeepRecord) leave() {
	if !m.left.Swap(true) {
		m.part.mailed.Add(-int64(len(m.Body)))
	}
}

// Lost lets the next one be sent.
func (m *RecordsWait) Lost(error) { m.part.poked.Store(false) }

// Lost ends the wait.
func (m *AwaitHanded) Lost(why error) { m.Done(why) }

// Bounds of the calls.
const (
	callBytes   = 4 << 20
	expireEvery = 10 * time.Minute
	// aloneAfter is after how many failures of several records each is handed over alone, doubtAfter after how many of
	// the same one that after it is tried.
	aloneAfter, doubtAfter = 3, 6
)

// courier is the actor. What it knows of returners a next incarnation finds out anew: what that one hears of calls that
// were not its own is of no account, for it has its own under way.
type courier struct {
	part    *Part
	n       int // incarnation
	lines   map[string]*line
	waiting []*AwaitHanded
	flushed func()
	timed   bool // a recordsRipe is on its way
	kept    int
}

// line is how it stands with one returner.
type line struct {
	busy, resting bool
	pause         time.Duration // before the next try; 0: the last one succeeded
	failures      int           // in a row
}

func (c *courier) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		c.onStarted(ctx)
	case *KeepRecord:
		c.onKeepRecord(ctx, m)
	case *RecordsWait:
		c.onRecordsWait(ctx)
	case *recordsHanded:
		c.onRecordsHanded(ctx, m)
	case *returnerRested:
		c.onReturnerRested(ctx, m)
	case *recordsRipe:
		c.onRecordsRipe(ctx, m)
	case *AwaitHanded:
		c.onAwaitHanded(ctx, m)
	case *expireRecords:
		c.onExpireRecords(ctx)
	case *recordsDropped:
		c.onRecordsDropped(ctx, m)
	case *supervisor.Flush:
		c.onFlush(ctx, m)
	case *supervisor.Stopping, *supervisor.Restarting:
		c.onStopping()
	default:
		supervisor.Unhandled(ctx)
	}
}

func (c *courier) onStarted(ctx supervisor.Context) {
	c.n = supervisor.Incarnation(ctx)
	c.lines = map[string]*line{}
	for _, name := range c.part.opt.Queue.Readers {
		c.lines[name] = &line{}
	}
	c.part.ref.Store(supervisor.Self(ctx))
	c.part.poked.Store(false)
	c.onExpireRecords(ctx)
	c.look(ctx)
	supervisor.Note(ctx, c.part.summary())
	if c.part.opt.Started != nil {
		c.part.opt.Started()
	}
}

func (c *courier) onKeepRecord(ctx supervisor.Context, m *KeepRecord) {
	if !m.kept.Swap(true) {
		before := c.part.unwanted.Load()
		c.part.keep(m.Body)
		if c.part.unwanted.Load() != before {
			supervisor.Failed(ctx)
		}
	}
	m.leave()
	c.look(ctx)
	if c.kept++; c.kept%noteEvery == 0 {
		supervisor.Note(ctx, c.part.summary())
	}
}

// noteEvery is after how many records the tree shows the state anew, besides after each call.
const noteEvery = 256

func (c *courier) onRecordsWait(ctx supervisor.Context) {
	c.part.poked.Store(false)
	c.look(ctx)
}

// look finds out which records are to be handed over by now, and calls the returners that have none in hand.
func (c *courier) look(ctx supervisor.Context) {
	p := c.part
	end, ripe := p.queue.End(), p.ripe.Load()
	switch {
	case end-ripe >= uint64(max(p.opt.Least, 1)):
		p.ripe.Store(end)
	case end > ripe && p.opt.MaxWait > 0 && !c.timed:
		c.timed = true
		after(ctx, p.opt.MaxWait, &recordsRipe{end})
	}
	for name := range c.lines {
		c.call(ctx, name)
	}
}

// onRecordsRipe hands over what has come since, too.
func (c *courier) onRecordsRipe(ctx supervisor.Context, _ *recordsRipe) {
	c.timed = false
	c.part.ripe.Store(c.part.queue.End())
	c.look(ctx)
}

// call gives a returner its next records, unless it has some in hand, or rests.
func (c *courier) call(ctx supervisor.Context, name string) {
	l, p := c.lines[name], c.part
	if l.busy || l.resting || p.queue.Next(name) >= p.ripe.Load() {
		return
	}
	l.busy = true
	self, of, failures, end := supervisor.Self(ctx), c.n, l.failures, p.ripe.Load()
	supervisor.Go(ctx, "returner", func(ctx context.Context) error {
		m := p.hand(ctx, name, end, failures)
		m.of = of
		m.got = p.settle(m)
		if ctx.Err() == nil { // else this incarnation ends, and the next one calls
			self.Send(m)
		}
		return nil
	})
}

// hand calls a returner once. It runs beside the actor.
func (p *Part) hand(ctx context.Context, name string, end uint64, failures int) (m *recordsHanded) {
	m = &recordsHanded{returner: name}
	most := max(p.opt.Most, 1)
	if failures >= aloneAfter {
		most = 1
	}
	if failures >= doubtAfter {
		most = 2
	}
	if m.items, m.err = p.queue.Read(name, end, most, callBytes); m.err != nil || len(m.items) == 0 {
		return m
	}
	if failures >= doubtAfter && len(m.items) == 2 && failures%2 == 0 {
		m.skipped, m.items = m.items[0], m.items[1:]
	} else if failures >= aloneAfter {
		m.items = m.items[:1]
	}
	ctx, cancel := context.WithTimeout(ctx, returners.CallTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			m.err = fmt.Errorf("%s: panic: %v", name, v)
		}
	}()
	m.taken, m.err = p.opt.Hand(ctx, name, m.items)
	return m
}

// settle notes what a returner has taken, and what it will not get. It tells whether it got on.
func (p *Part) settle(m *recordsHanded) (got bool) {
	if m.err == nil {
		m.taken = len(m.items)
	}
	if m.taken > 0 {
		got = true
		if m.skipped.Body != nil {
			p.drop(m.returner, 1, "it fails of one, and not of the next")
		}
		p.done(m.returner, m.items[m.taken-1])
	}
	if m.err != nil && p.opt.Hopeless != nil && p.opt.Hopeless(m.err) && m.taken == 0 && len(m.items) == 1 &&
		m.skipped.Body == nil {
		p.drop(m.returner, 1, m.err.Error())
		p.done(m.returner, m.items[0])
		return true
	}
	return got
}

func (p *Part) done(returner string, last queue.Item) {
	if err := p.queue.Done(returner, last); err != nil { // they come again with the next start
		p.opt.Log.Error("what a returner has taken cannot be noted", "actor", p.opt.Name, "returner", returner, "err",
			err)
	}
}

func (c *courier) onRecordsHanded(ctx supervisor.Context, m *recordsHanded) {
	if m.of != c.n {
		return
	}
	l, p := c.lines[m.returner], c.part
	l.busy = false
	p.tallies[m.returner].failing.Store(m.err != nil && !m.got)
	switch {
	case m.err == nil:
		if l.failures > 0 {
			p.opt.Log.Warn("a returner takes "+p.opt.What+" again", "actor", p.opt.Name, "returner", m.returner)
		}
		l.pause, l.failures = 0, 0
	case m.got:
		supervisor.Failed(ctx)
		l.pause, l.failures = 0, aloneAfter
	case p.opt.Hopeless != nil && p.opt.Hopeless(m.err) && l.failures < aloneAfter:
		supervisor.Failed(ctx)
		l.failures = aloneAfter // each alone: the others are taken
	default:
		supervisor.Failed(ctx)
		c.rest(ctx, m)
	}
	c.tellWaiting(m)
	c.look(ctx)
	c.tellFlushed()
	supervisor.Note(ctx, p.summary())
}

// rest lets a returner be for a while.
func (c *courier) rest(ctx supervisor.Context, m *recordsHanded) {
	l, p := c.lines[m.returner], c.part
	l.failures++
	l.resting, l.pause = true, returners.Pause(l.pause)
	p.opt.Log.Error("a returner could not take "+p.opt.What+"; it is tried again", "actor", p.opt.Name, "returner",
		m.returner, "after", l.pause, "waiting", p.queue.End()-p.queue.Next(m.returner), "err",
		p.masked(strings.TrimSpace(m.err.Error())))
	after(ctx, l.pause, &returnerRested{c.n, m.returner})
}

func (c *courier) onReturnerRested(ctx supervisor.Context, m *returnerRested) {
	if m.of != c.n {
		return
	}
	c.lines[m.returner].resting = false
	c.look(ctx)
}

func (c *courier) onAwaitHanded(ctx supervisor.Context, m *AwaitHanded) {
	p := c.part
	if p.ripe.Load() < m.End {
		p.ripe.Store(p.queue.End())
	}
	c.waiting = append(c.waiting, m)
	c.look(ctx)
	l := c.lines[m.Returner]
	c.tellWaiting(&recordsHanded{returner: m.Returner, err: failed(l == nil || l.resting)})
}

func failed(is bool) error {
	if is {
		return errFailing
	}
	return nil
}

// tellWaiting ends the waits that a call has ended.
func (c *courier) tellWaiting(m *recordsHanded) {
	still := c.waiting[:0]
	next := c.part.queue.Next(m.returner)
	for _, w := range c.waiting {
		switch {
		case w.Returner != m.returner:
			still = append(still, w)
		case next >= w.End:
			w.Done(nil)
		case m.err != nil:
			w.Done(errors.New(c.part.masked(m.err.Error())))
		default:
			still = append(still, w)
		}
	}
	clear(c.waiting[len(still):])
	c.waiting = still
}

// onRecordsDropped fires the event beside the actor, which may listen to it.
func (c *courier) onRecordsDropped(ctx supervisor.Context, m *recordsDropped) {
	supervisor.Go(ctx, "event", func(context.Context) error {
		c.part.opt.Fire(tagDropped, m.data)
		return nil
	})
}

func (c *courier) onExpireRecords(ctx supervisor.Context) {
	after(ctx, expireEvery, &expireRecords{})
	if c.part.opt.Calm == nil || c.part.opt.Calm() {
		c.part.queue.Expire(time.Now())
	}
}

// onFlush hands over what is there. What a returner does not take now waits for the next start.
func (c *courier) onFlush(ctx supervisor.Context, m *supervisor.Flush) {
	if c.flushed != nil {
		c.flushed()
	}
	c.flushed = m.Done
	c.part.ripe.Store(c.part.queue.End())
	c.look(ctx)
	c.tellFlushed()
}

func (c *courier) tellFlushed() {
	if c.flushed == nil {
		return
	}
	for name, l := range c.lines {
		if !l.resting && (l.busy || c.part.queue.Next(name) < c.part.ripe.Load()) {
			return
		}
	}
	c.flushed()
	c.flushed = nil
}

func (c *courier) onStopping() {
	for _, w := range c.waiting {
		w.Done(supervisor.ErrGone)
	}
	if c.flushed != nil {
		c.flushed()
	}
}
