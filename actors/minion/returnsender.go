package minion

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"brine/modules/ledger"
	"brine/supervisor"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of the ReturnSender.
type (
	// SendReturn delivers the return of a job, over restarts of either side. Kept is called when the return is
	// on disk, before it is sent, or else when it is delivered. Again is called when a ReturnSender died of the
	// message; to send it once more is safe, Key tells that it is the same.
	SendReturn struct {
		Key   string
		JID   string
		Load  *payload.Map
		Body  []byte // Load packed for the journal
		Kept  func()
		Again func()
	}
	// SendRequest asks the master something once; Done gets the answer. Nothing is kept.
	SendRequest struct {
		Load    *payload.Map
		Timeout time.Duration // 0: request_channel_timeout
		Tries   int           // 0: request_channel_tries
		Done    func(v any, err error)
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
	}
	// returnsListed are the returns that were in the journal at the start.
	returnsListed struct {
		all    []spooled
		sender *returnSender
	}
	// retrySpool tries the returns again that wait for the master.
	retrySpool struct{}
	// retryTimer does the same, when the pause after a failure is over.
	retryTimer struct{}
	// FlushReturns waits until the master has all returns; Done is closed then.
	FlushReturns struct{ Done chan<- struct{} }
)

// Lost asks the job for its return again.
func (m *SendReturn) Lost(why error) {
	if m.Again != nil && (errors.Is(why, supervisor.ErrCrashed) || errors.Is(why, supervisor.ErrAbandoned)) {
		m.Again()
	}
}

// Lost tells the requester that no answer will come.
func (m *SendRequest) Lost(why error) {
	if m.Done != nil {
		m.Done(nil, why)
	}
}

// returnSenderOptions are what the ReturnSender needs of its connection.
type returnSenderOptions struct {
	link     *link
	journal  *supervisor.Ref
	maxBytes int64         // of returns on disk, 0: no cap
	maxAge   time.Duration // 0: kept for ever
	// unkept are the returns that could not be put on disk; they outlive the actor.
	unkept *[]*SendReturn
	diary  *ledger.Diary
	log    *slog.Logger
}

// returnSender delivers returns to one master. What it has taken is on disk before it is sent, and leaves the
// disk when the master has answered. Unlike Salt: a return is never given up because the master is away.
type returnSender struct {
	opt     returnSenderOptions
	self    *supervisor.Ref
	known   map[string]*pendingReturn // by key
	waiting []*pendingReturn          // in order; not sent yet
	failed  []*pendingReturn          // to be sent again by the next retry
	flying  int
	window  int   // how many may fly: more with each success, half with each failure
	pauses  int   // retries so far without a success
	timer   bool  // a retryTimer is on its way
	size    int64 // of the returns on disk, in bytes
	flush   []chan<- struct{}
}

// Limits of the ReturnSender.
const (
	maxFlying     = 32 // returns under way; requests of other kinds find free sockets
	firstFlying   = 8  // before it is known how the master copes
	maxLoaded     = 64 // waiting returns held in memory as well as on disk
	retryPause    = time.Second
	retryPauseMax = 30 * time.Second
)

func (r *returnSender) Receive(ctx actor.Context) {
	defer r.measure()
	switch m := ctx.Message().(type) {
	case *actor.Started:
		r.onStarted(ctx)
	case *SendReturn:
		r.onSendReturn(ctx, m)
	case *SendRequest:
		r.onSendRequest(ctx, m)
	case *returnNoted:
		r.onNoted(ctx, m)
	case *delivered:
		r.onDelivered(ctx, m)
	case *returnsListed:
		r.onListed(ctx, m)
	case *retrySpool:
		r.retry(ctx)
	case *retryTimer:
		r.timer = false
		r.retry(ctx)
	case *FlushReturns:
		r.flush = append(r.flush, m.Done)
		r.flushed()
	default:
		supervisor.Unhandled(ctx)
	}
}

// measure notes how much there is.
func (r *returnSender) measure() {
	r.opt.link.gauges.returns.Store(int64(len(r.known)))
	r.opt.link.gauges.bytes.Store(r.size)
}

// onStarted asks for what a predecessor, or the process before this one, left in the journal.
func (r *returnSender) onStarted(ctx actor.Context) {
	r.self, r.known, r.window = supervisor.Self(ctx), make(map[string]*pendingReturn), firstFlying
	self := r.self
	supervisor.Send(ctx, r.opt.journal, &ListReturns{Link: r.opt.link.name(), Done: func(all []spooled) { self.Send(&returnsListed{all, r}) }})
	unkept := *r.opt.unkept
	*r.opt.unkept = nil
	for _, m := range unkept {
		r.onSendReturn(ctx, m)
	}
}

func (r *returnSender) onListed(ctx actor.Context, m *returnsListed) {
	if m.sender != r {
		return
	}
	for _, s := range m.all {
		if r.known[s.key] == nil {
			r.size += s.size
			r.admit(&pendingReturn{spooled: s, jid: s.key})
		}
	}
	r.trim()
	r.fly(ctx)
}

func (r *returnSender) admit(p *pendingReturn) {
	r.known[p.key] = p
	r.waiting = append(r.waiting, p)
}

// onSendReturn puts a return into the journal. It is sent when it is there.
func (r *returnSender) onSendReturn(ctx actor.Context, m *SendReturn) {
	if p := r.known[m.Key]; p != nil { // asked again
		if p.onDisk() {
			m.kept()
		} else {
			p.asked = m
		}
		return
	}
	p := &pendingReturn{jid: m.JID, load: m.Load, asked: m,
		spooled: spooled{key: m.Key, size: int64(len(m.Body)), at: r.opt.link.clock.Now()}}
	r.known[m.Key] = p
	self := r.self
	supervisor.Send(ctx, r.opt.journal, &WriteRecord{
		Record: journalRecord{kind: journalReturn, key: m.Key, link: r.opt.link.name(), body: m.Body},
		Done:   func(err error) { self.Send(&returnNoted{p, err, r}) },
	})
}

func (m *SendReturn) kept() {
	if m.Kept != nil {
		m.Kept()
	}
}

// onNoted sends a return that is in the journal by now, or cannot be put there.
func (r *returnSender) onNoted(ctx actor.Context, m *returnNoted) {
	p := m.ret
	r.noteSpooled(p, m.err)
	if m.sender != r { // asked for by a predecessor
		if q := r.known[p.key]; q != nil {
			if m.err == nil || q.onDisk() {
				p.asked.kept()
			}
			return
		}
		r.known[p.key] = p
	}
	if m.err == nil {
		r.size += p.size
		p.asked.kept()
		p.asked = nil
		if len(r.waiting) >= maxLoaded {
			p.load = nil
		}
	} else {
		*r.opt.unkept = append(*r.opt.unkept, p.asked)
	}
	if p.taken {
		r.opt.over(p.key)
		r.forget(p)
		return
	}
	r.waiting = append(r.waiting, p)
	r.trim()
	r.fly(ctx)
}

// fly sends what waits, as far as there is room.
func (r *returnSender) fly(ctx actor.Context) {
	for len(r.waiting) > 0 && r.flying < r.window {
		p := r.waiting[0]
		r.waiting[0] = nil
		r.waiting = r.waiting[1:]
		r.flying++
		l, self := r.opt.link, r.self
		supervisor.Go(ctx, "return", func(ctx context.Context) error {
			err := r.opt.deliver(ctx, l, p)
			if err == nil { // not left to the actor, which may be about to end: the journal ends later
				r.opt.over(p.key)
			}
			self.Send(&delivered{ret: p, err: err, sender: r})
			return nil
		})
	}
}

// deliver makes one attempt. It runs outside the actor.
func (o *returnSenderOptions) deliver(ctx context.Context, l *link, p *pendingReturn) error {
	load := p.load
	if load == nil {
		var err error
		if load, err = o.read(ctx, p.key); err != nil {
			return err
		}
	}
	if l.sessions.Load() == 0 { // whether the master is brine's shows at the sign-in
		if err := l.renew(ctx, 0); err != nil {
			return fmt.Errorf("deliver the return: %w", err)
		}
	}
	load = o.addFacts(load, p)
	_, err := l.request(ctx, load, l.returnTimeout(), l.cfg.ReturnRetryTries)
	return err
}

// read takes a return from the journal.
func (o *returnSenderOptions) read(ctx context.Context, key string) (*payload.Map, error) {
	type found struct {
		load *payload.Map
		err  error
	}
	reply := make(chan found, 1)
	o.journal.Send(&ReadReturn{Key: key, Done: func(load *payload.Map, err error) {
		select {
		case reply <- found{load, err}:
		default: // told already
		}
	}})
	select {
	case f := <-reply:
		if f.err != nil {
			return nil, fmt.Errorf("read the return: %w", f.err)
		}
		return f.load, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (r *returnSender) onDelivered(ctx actor.Context, m *delivered) {
	if m.sender != r {
		r.onDeliveredBefore(m)
		return
	}
	r.flying--
	r.noteTried(m.ret, m.err)
	switch {
	case r.known[m.ret.key] != m.ret: // dropped meanwhile
	case m.err == nil:
		r.pauses, r.window = 0, min(r.window+1, maxFlying)
		r.forget(m.ret)
	case errors.Is(m.err, errUnreadable):
		r.opt.log.Error("a return is lost", "jid", m.ret.jid, "err", m.err)
		r.opt.over(m.ret.key)
		r.forget(m.ret)
	default:
		r.window = max(r.window/2, 1)
		r.hold(ctx, m.ret, m.err)
	}
	r.fly(ctx)
}

// onDeliveredBefore takes the outcome of a predecessor's attempt. What failed is in the journal; what did not needs
// no other attempt.
func (r *returnSender) onDeliveredBefore(m *delivered) {
	if m.err != nil {
		return
	}
	p := r.known[m.ret.key]
	if p == nil {
		return
	}
	p.taken = true // it may be on its way to the journal once more
	mine := func(q *pendingReturn) bool { return q == p }
	if slices.ContainsFunc(r.waiting, mine) || slices.ContainsFunc(r.failed, mine) {
		r.waiting, r.failed = slices.DeleteFunc(r.waiting, mine), slices.DeleteFunc(r.failed, mine)
		r.opt.over(p.key)
		r.forget(p)
	}
}

func (r *returnSender) flushed() {
	if len(r.known) > 0 {
		return
	}
	for _, done := range r.flush {
		close(done)
	}
	r.flush = nil
}

// forget ends the work on a return that is delivered, or cannot be.
func (r *returnSender) forget(p *pendingReturn) {
	delete(r.known, p.key)
	defer r.flushed()
	if !p.onDisk() {
		*r.opt.unkept = slices.DeleteFunc(*r.opt.unkept, func(m *SendReturn) bool { return m.Key == p.key })
		p.asked.kept()
		return
	}
	r.size -= p.size
}

// over lets the journal forget a job: the master has its return, or will never have it. It may be called by any
// goroutine. A return that could not be put there has left the record of its beginning.
func (o *returnSenderOptions) over(key string) {
	o.journal.Send(&WriteRecord{Record: journalRecord{kind: journalGone, key: key}})
}

// hold keeps a return for the next retry.
func (r *returnSender) hold(ctx actor.Context, p *pendingReturn, err error) {
	level := slog.LevelWarn
	if p.failed {
		level = slog.LevelDebug // said before
	}
	r.opt.log.Log(context.Background(), level, "the return waits for the master", "jid", p.jid, "err", err)
	p.failed = true
	if p.onDisk() && len(r.failed) >= maxLoaded {
		p.load = nil
	}
	r.failed = append(r.failed, p)
	if !r.timer {
		r.timer = true
		r.pauses++
		pause := min(retryPause<<min(r.pauses, 5), retryPauseMax)
		after(ctx, r.opt.link.clock, between(pause/2, pause), &retryTimer{})
	}
}

// retry sends again what has failed, before what came later.
func (r *returnSender) retry(ctx actor.Context) {
	r.trim()
	r.waiting = append(r.failed, r.waiting...)
	r.failed = nil
	r.fly(ctx)
}

func (r *returnSender) onSendRequest(ctx actor.Context, m *SendRequest) {
	l := r.opt.link
	if m.Timeout == 0 {
		m.Timeout = l.cfg.RequestChannelTimeout
	}
	if m.Tries == 0 {
		m.Tries = l.cfg.RequestChannelTries
	}
	supervisor.Go(ctx, "request", func(ctx context.Context) error {
		v, err := l.request(ctx, m.Load, m.Timeout, m.Tries)
		if m.Done != nil {
			m.Done(v, err)
		}
		return nil
	})
}
