package minion

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"brine/actors/daemon"
	"brine/actors/minion/journal"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/payload"
)

// Messages of the ReturnSender.
type (
	// SendReturn delivers the return of a job, over restarts of either side. Kept is called when the return is
	// on disk, before it is sent, or else when it is delivered. The ReturnSender runs it in its handler, or whoever
	// finds its event lost does: the files of the job must be gone before the master can have the return, or the next
	// process would answer for the job once more (docs/decisions/0044). Failed is called when no ReturnSender takes the
	// message, mostly because one died of it, by who finds that out; to send it once more is safe, Key tells that it is
	// the same. Neither may block.
	SendReturn struct {
		Key    string
		JID    string
		Return *payload.Return // as it goes to the master
		Body   []byte          // Return packed for the journal
		Kept   func()
		Failed func(why error)
		bulk   int64       // bytes of a Body that is larger than the journal may take, and not held beside Return
		taken  atomic.Bool // the master has acknowledged it; said by the attempt, whose ReturnSender may be dead
		reason bool        // it says why there is no other return
	}
	// TakeReturn delivers a return that somebody else has put into the journal.
	TakeReturn struct {
		JID    string
		Return journal.Spooled
	}
	// SendRequest asks the master something once; Done gets the answer. Nothing is kept. Functions and tools ask so,
	// too: Done runs in the goroutine of the request, or in that of who finds the message lost.
	SendRequest struct {
		Load    *payload.Map
		Timeout time.Duration // 0: request_channel_timeout
		Tries   int           // 0: request_channel_tries
		Done    func(v any, err error)
		place   daemon.Place
	}
	// delivered is the outcome of one attempt to deliver a return.
	delivered struct {
		ret    *pendingReturn
		err    error
		sender *returnSender // that made the attempt
	}
	// returnNoted says that a return is in the journal, or could not be put there.
	returnNoted struct {
		ret    *pendingReturn
		err    error
		sender *returnSender
		asked  *SendReturn
	}
	// returnReplaced says that the reason stands in the journal in place of a return, or could not be put there.
	returnReplaced struct {
		ret    *pendingReturn
		size   int64
		err    error
		sender *returnSender
	}
	// returnsListed are the returns that were in the journal at the start.
	returnsListed struct {
		all    []journal.Spooled
		sender *returnSender
	}
	// retrySpool tries the returns again that wait for the master.
	retrySpool struct{}
	// retryTimer does the same, when the pause after a failure is over.
	retryTimer struct{}
)

// Lost tells the job.
func (m *SendReturn) Lost(why error) {
	if m.Failed != nil {
		m.Failed(why)
	}
}

func (m *returnNoted) Written(err error) any { return &returnNoted{m.ret, err, m.sender, m.asked} }

func (m *returnReplaced) Replaced(size int64, err error) any {
	return &returnReplaced{m.ret, size, err, m.sender}
}

// Lost tells the job: the next ReturnSender finds the return in the journal, or gets it again.
func (m *returnNoted) Lost(why error) {
	if m.err == nil {
		m.asked.kept()
	} else {
		m.asked.Lost(why)
	}
}

// Lost tells the requester that no answer will come.
func (m *SendRequest) Lost(why error) {
	m.place.Leave()
	if m.Done != nil {
		m.Done(nil, why)
	}
}

// returnSenderOptions are what the ReturnSender needs of its connection.
type returnSenderOptions struct {
	link     *link
	journal  *supervisor.Ref
	maxBytes int64         // of returns on disk, 0: no cap
	most     int           // returns
	maxAge   time.Duration // 0: kept for ever
	calm     func() bool   // whether the clock may be believed
	// unkept are the returns that are not on disk as they are; they outlive the actor.
	unkept *[]*SendReturn
	diary  *ledger.Diary
	heeded *daemon.Bell // rung for those that wait until there are fewer returns
	log    *slog.Logger
}

// returnSender delivers returns to one master. What it has taken is on disk before it is sent, and leaves the
// disk when the master has acknowledged it. Unlike Salt: a return is never given up because the master is away, or
// because it answers that it could not take it.
type returnSender struct {
	opt     returnSenderOptions
	self    *supervisor.Ref
	known   map[string]*pendingReturn // by key
	waiting []*pendingReturn          // in order; not sent yet
	failed  []*pendingReturn          // to be sent again by the next retry
	flying  int
	window  int      // how many may fly: more with each success, half with each failure
	pauses  int      // retries so far without a success
	timer   bool     // a retryTimer is on its way
	away    bool     // the last attempt has failed
	size    int64    // of the returns on disk, in bytes
	flush   []func() // to be called when there is nothing to be done
	untaken untaken
}

// Limits of the ReturnSender.
const (
	maxFlying     = 32 // returns under way; requests of other kinds find free sockets
	firstFlying   = 8  // before it is known how the master copes
	maxLoaded     = 64 // waiting returns held in memory as well as on disk
	bulkTries     = 3  // attempts to deliver a return that is held in memory only
	retryPause    = time.Second
	retryPauseMax = 30 * time.Second
)

func (r *returnSender) Receive(ctx supervisor.Context) {
	defer r.measure()
	defer r.flushed()
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		r.onStarted(ctx)
	case *SendReturn:
		r.onSendReturn(ctx, m)
	case *SendRequest:
		r.onSendRequest(ctx, m)
	case *TakeReturn:
		r.onTakeReturn(ctx, m)
	case *returnNoted:
		r.onNoted(ctx, m)
	case *returnReplaced:
		r.onReplaced(m)
	case *delivered:
		r.onDelivered(ctx, m)
	case *returnsListed:
		r.onListed(ctx, m)
	case *returnNotedLate:
		r.onNotedLate(m)
	case *probeTimer:
		r.onProbe(ctx)
	case *retrySpool:
		r.releaseUntaken(ctx)
		r.retry(ctx)
	case *retryTimer:
		r.timer = false
		r.retry(ctx)
	case *supervisor.Flush:
		r.flush = append(r.flush, m.Done)
	default:
		supervisor.Unhandled(ctx)
	}
}

// measure notes how much there is.
func (r *returnSender) measure() {
	r.opt.link.gauges.returns.Store(int64(len(r.known)))
	r.opt.link.gauges.bytes.Store(r.size)
	r.opt.heeded.Ring()
}

// onStarted asks for what a predecessor, or the process before this one, left in the journal.
func (r *returnSender) onStarted(ctx supervisor.Context) {
	r.self, r.known, r.window = supervisor.Self(ctx), make(map[string]*pendingReturn), firstFlying
	self := r.self
	unkept := *r.opt.unkept
	*r.opt.unkept = nil
	for _, m := range unkept {
		// as messages: one of them may kill; before the list, in which the reasons for some of them stand
		if m.taken.Load() {
			m.kept()
			continue
		}
		self.Send(m)
	}
	supervisor.Send(ctx, r.opt.journal, &journal.List{Link: r.opt.link.name(), Done: func(all []journal.Spooled) {
		self.Send(&returnsListed{all, r})
	}})
}

func (r *returnSender) onListed(ctx supervisor.Context, m *returnsListed) {
	if m.sender != r {
		return
	}
	for _, s := range m.all {
		r.admit(s, s.Key)
	}
	r.trim(ctx)
	r.fly(ctx)
}

func (r *returnSender) onTakeReturn(ctx supervisor.Context, m *TakeReturn) {
	r.admit(m.Return, m.JID)
	r.trim(ctx)
	r.fly(ctx)
}

// admit takes a return that is in the journal, unless it has it already.
func (r *returnSender) admit(s journal.Spooled, jid string) {
	if r.known[s.Key] == nil {
		p := &pendingReturn{Spooled: s, jid: jid, bytes: s.Size}
		r.size += s.Size
		r.known[s.Key] = p
		r.waiting = append(r.waiting, p)
	}
}

// onSendReturn puts a return into the journal. It is sent when it is there. One that the journal may not take is held
// in memory, and in the journal stands what is to be said if it comes to nothing.
func (r *returnSender) onSendReturn(ctx supervisor.Context, m *SendReturn) {
	if p := r.known[m.Key]; p != nil { // asked again
		if p.onDisk() {
			m.kept()
		} else {
			p.asked = m
		}
		return
	}
	body, size := m.Body, max(m.bulk, int64(len(m.Body)))
	p := &pendingReturn{jid: m.JID, ret: m.Return, asked: m, bytes: size, bulky: r.opt.maxBytes > 0 &&
		size > r.opt.maxBytes}
	if p.bulky {
		var err error
		if body, err = r.opt.reason(m.Key, m.Return, size); err != nil {
			supervisor.Crash(fmt.Errorf("pack reason for %s: %w", m.JID, err))
		}
	}
	p.Spooled = journal.Spooled{Key: m.Key, Size: int64(len(body)), At: r.opt.link.clock.Now()}
	r.known[m.Key] = p
	r.write(ctx, m, body, &returnNoted{ret: p, sender: r, asked: m})
}

// write puts a return into the journal. The note comes back with the outcome.
func (r *returnSender) write(ctx supervisor.Context, m *SendReturn, body []byte, note journal.Note) {
	supervisor.Send(ctx, r.opt.journal, &journal.Write{
		Record: journal.Record{Kind: journal.Returned, Key: m.Key, Link: r.opt.link.name(), Body: body},
		Asker:  r.self, Note: note,
	})
}

func (m *SendReturn) kept() {
	if m.Kept != nil {
		m.Kept()
	}
}

// onNoted sends a return that is in the journal by now, or cannot be put there.
func (r *returnSender) onNoted(ctx supervisor.Context, m *returnNoted) {
	p := m.ret
	r.noteSpooled(p, m.err)
	if m.sender != r { // asked for by a predecessor
		if q := r.known[p.Key]; q != nil {
			if m.err == nil || q.onDisk() {
				p.asked.kept()
			}
			return
		}
		r.known[p.Key] = p
	}
	r.keep(p, m.err)
	if p.taken {
		r.opt.over(p.Key)
		r.forget(p)
		return
	}
	r.waiting = append(r.waiting, p)
	r.trim(ctx)
	r.fly(ctx)
}

// keep notes what of a return is on disk, and holds on to the rest.
func (r *returnSender) keep(p *pendingReturn, err error) {
	if err != nil {
		p.bulky = false // nothing stands in its place
		p.held = p.asked
		*r.opt.unkept = append(*r.opt.unkept, p.held)
		return
	}
	r.size += p.Size
	p.asked.kept()
	if p.bulky {
		p.held = &SendReturn{Key: p.Key, JID: p.jid, Return: p.ret, bulk: p.bytes}
		*r.opt.unkept = append(*r.opt.unkept, p.held)
	} else if len(r.waiting) >= maxLoaded {
		p.ret = nil
	}
	p.asked = nil
}

// forget ends the work on a return that is delivered, or cannot be.
func (r *returnSender) forget(p *pendingReturn) {
	delete(r.known, p.Key)
	r.release(p)
	if p.onDisk() {
		r.size -= p.Size
	} else {
		p.asked.kept()
	}
}

// release drops what is held of a return beyond restarts of the actor.
func (r *returnSender) release(p *pendingReturn) {
	*r.opt.unkept = slices.DeleteFunc(*r.opt.unkept, func(m *SendReturn) bool { return m.Key == p.Key })
}

// over lets the journal forget a job: the master has its return, or will never have it. It may be called by any
// goroutine. A return that could not be put there has left the record of its beginning.
func (o *returnSenderOptions) over(key string) {
	o.journal.Send(&journal.Write{Record: journal.Record{Kind: journal.Gone, Key: key}})
}

func (r *returnSender) onSendRequest(ctx supervisor.Context, m *SendRequest) {
	l := r.opt.link
	if m.Timeout == 0 {
		m.Timeout = l.times.Load().requestChannelTimeout
	}
	if m.Tries == 0 {
		m.Tries = l.times.Load().requestChannelTries
	}
	supervisor.Go(ctx, "request", func(ctx context.Context) error {
		defer m.place.Leave()
		v, err := l.request(ctx, m.Load, m.Timeout, m.Tries)
		if m.Done != nil {
			m.Done(v, err)
		}
		return nil
	})
}
