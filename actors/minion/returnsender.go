package minion

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

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

// pendingReturn is a return that the master has not acknowledged.
type pendingReturn struct {
	spooled
	jid    string
	load   *payload.Map // nil: it is read from the spool when its turn comes
	kept   func()       // still to be called: the return is not on disk
	failed bool         // an attempt has failed
}

// returnSenderOptions are what the ReturnSender needs of its connection.
type returnSenderOptions struct {
	link  *link
	spool *spool
	// unkept are the returns that could not be put on disk; they outlive the actor.
	unkept *[]*SendReturn
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
	pauses  int   // retries so far without a success
	timer   bool  // a retryTimer is on its way
	size    int64 // of the spool, in bytes
	told    bool  // that the spool cannot be written
	flush   []chan<- struct{}
}

// Limits of the ReturnSender.
const (
	maxFlying     = 12 // returns under way; requests of other kinds find free sockets
	maxLoaded     = 64 // waiting returns held in memory as well as on disk
	retryPause    = time.Second
	retryPauseMax = 30 * time.Second
)

func (r *returnSender) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		r.onStarted(ctx)
	case *SendReturn:
		r.onSendReturn(ctx, m)
	case *SendRequest:
		r.onSendRequest(ctx, m)
	case *delivered:
		r.onDelivered(ctx, m)
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

// onStarted takes over what a predecessor, or the process before this one, left in the spool.
func (r *returnSender) onStarted(ctx actor.Context) {
	r.self, r.known = supervisor.Self(ctx), make(map[string]*pendingReturn)
	all, err := r.opt.spool.list()
	if err != nil {
		r.opt.log.Error("the spool cannot be read", "err", err)
	}
	for _, s := range all {
		r.size += s.size
		r.admit(&pendingReturn{spooled: s, jid: s.key})
	}
	r.trim()
	unkept := *r.opt.unkept
	*r.opt.unkept = nil
	for _, m := range unkept {
		r.onSendReturn(ctx, m)
	}
	r.fly(ctx)
}

func (r *returnSender) admit(p *pendingReturn) {
	r.known[p.key] = p
	r.waiting = append(r.waiting, p)
}

func (r *returnSender) onSendReturn(ctx actor.Context, m *SendReturn) {
	if p := r.known[m.Key]; p != nil {
		if p.kept == nil {
			m.kept() // asked again, and it is there
		}
		return
	}
	p := &pendingReturn{spooled: spooled{key: m.Key, at: r.opt.link.clock.Now()}, jid: m.JID, load: m.Load}
	size, err := r.opt.spool.put(m.Key, m.Load)
	if errors.Is(err, errUnpackable) {
		r.opt.log.Error("a return is replaced by the reason why it cannot be sent", "jid", m.JID, "err", err)
		p.load = m.Load.Clone().Set("return", err.Error()).Set("retcode", int64(1)).Set("success", false)
		size, err = r.opt.spool.put(m.Key, p.load)
	}
	r.keep(m, p, size, err)
	if len(r.waiting) >= maxLoaded && p.kept == nil {
		p.load = nil
	}
	r.admit(p)
	r.trim()
	r.fly(ctx)
}

// keep notes whether a return is on disk. That it cannot be is said once, until it can be again.
func (r *returnSender) keep(m *SendReturn, p *pendingReturn, size int64, err error) {
	if err == nil {
		p.size, r.told = size, false
		r.size += size
		m.kept()
		return
	}
	if !r.told {
		r.told = true
		r.opt.log.Error("returns cannot be kept on disk; they are lost if this process ends before the master has them", "err", err)
	}
	p.kept = m.kept
	*r.opt.unkept = append(*r.opt.unkept, m)
}

func (m *SendReturn) kept() {
	if m.Kept != nil {
		m.Kept()
	}
}

// fly sends what waits, as far as there is room.
func (r *returnSender) fly(ctx actor.Context) {
	for len(r.waiting) > 0 && r.flying < maxFlying {
		p := r.waiting[0]
		r.waiting[0] = nil
		r.waiting = r.waiting[1:]
		r.flying++
		l, self := r.opt.link, r.self
		supervisor.Go(ctx, "return", func(ctx context.Context) error {
			self.Send(&delivered{ret: p, err: r.opt.deliver(ctx, l, p), sender: r})
			return nil
		})
	}
}

// deliver makes one attempt. It runs outside the actor.
func (o *returnSenderOptions) deliver(ctx context.Context, l *link, p *pendingReturn) error {
	load := p.load
	if load == nil {
		var err error
		if load, err = o.spool.get(p.key); err != nil {
			return fmt.Errorf("%w: %w", errUnreadable, err)
		}
	}
	_, err := l.request(ctx, load, l.returnTimeout(), l.cfg.ReturnRetryTries)
	return err
}

// errUnreadable means that a return in the spool has gone bad.
var errUnreadable = errors.New("a spooled return cannot be read")

func (r *returnSender) onDelivered(ctx actor.Context, m *delivered) {
	if m.sender != r {
		r.onDeliveredBefore(m)
		return
	}
	r.flying--
	switch {
	case r.known[m.ret.key] != m.ret: // dropped meanwhile
	case m.err == nil:
		r.pauses = 0
		r.forget(m.ret)
	case errors.Is(m.err, errUnreadable):
		r.opt.log.Error("a return is lost", "jid", m.ret.jid, "err", m.err)
		r.forget(m.ret)
	default:
		r.hold(ctx, m.ret, m.err)
	}
	r.fly(ctx)
}

// onDeliveredBefore takes the outcome of a predecessor's attempt. What failed is in the spool; what did not needs
// no other attempt.
func (r *returnSender) onDeliveredBefore(m *delivered) {
	if m.err != nil {
		return
	}
	if i := slices.IndexFunc(r.waiting, func(p *pendingReturn) bool { return p.key == m.ret.key }); i >= 0 {
		p := r.waiting[i]
		r.waiting = slices.Delete(r.waiting, i, i+1)
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

// forget drops a return that is delivered, or cannot be.
func (r *returnSender) forget(p *pendingReturn) {
	delete(r.known, p.key)
	defer r.flushed()
	if p.kept != nil {
		*r.opt.unkept = slices.DeleteFunc(*r.opt.unkept, func(m *SendReturn) bool { return m.Key == p.key })
		p.kept()
		return
	}
	r.size -= p.size
	if err := r.opt.spool.done(p.key); err != nil {
		r.opt.log.Error("a delivered return stays in the spool", "jid", p.jid, "err", err)
	}
}

// hold keeps a return for the next retry.
func (r *returnSender) hold(ctx actor.Context, p *pendingReturn, err error) {
	level := slog.LevelWarn
	if p.failed {
		level = slog.LevelDebug // said before
	}
	r.opt.log.Log(context.Background(), level, "the return waits for the master", "jid", p.jid, "err", err)
	p.failed = true
	if p.kept == nil && len(r.failed) >= maxLoaded {
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

// trim drops returns that are too old, and the oldest beyond the cap of the spool.
func (r *returnSender) trim() {
	s := r.opt.spool
	over := s.maxBytes > 0 && r.size > s.maxBytes
	if !over && !r.stale() {
		return
	}
	var all []spooled
	for _, p := range slices.Concat(r.failed, r.waiting) {
		if p.kept == nil {
			all = append(all, p.spooled)
		}
	}
	drop := s.surplus(all, r.opt.link.clock.Now())
	if len(drop) == 0 {
		return
	}
	gone := make(map[string]bool, len(drop))
	for _, d := range drop {
		gone[d.key] = true
		r.forget(r.known[d.key])
	}
	isGone := func(p *pendingReturn) bool { return gone[p.key] }
	r.failed, r.waiting = slices.DeleteFunc(r.failed, isGone), slices.DeleteFunc(r.waiting, isGone)
	r.opt.log.Error("returns are dropped: the master was away for too long", "count", len(drop), "first", drop[0].key, "last", drop[len(drop)-1].key)
}

// stale tells whether the oldest return is too old.
func (r *returnSender) stale() bool {
	most, now := r.opt.spool.maxAge, r.opt.link.clock.Now()
	old := func(list []*pendingReturn) bool {
		return len(list) > 0 && list[0].kept == nil && now.Sub(list[0].at) > most
	}
	return most > 0 && (old(r.failed) || old(r.waiting))
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
