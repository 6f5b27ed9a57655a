package minion

import (
	"context"
	"log/slog"
	"time"

	"brine/supervisor"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of the ReturnSender.
type (
	// SendReturn delivers the return of a job, over restarts of either side. Kept is called when the return is
	// on disk (or could not be put there), before it is sent.
	SendReturn struct {
		JID  string
		Load *payload.Map
		Kept func()
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
		ret *pendingReturn
		err error
	}
	// retrySpool tries the returns again that wait for the master.
	retrySpool struct{}
)

// pendingReturn is a return that the master has not acknowledged.
type pendingReturn struct {
	jid  string
	name string // in the spool; "" when it could not be written
	load *payload.Map
}

// returnSenderOptions are what the ReturnSender needs of its connection.
type returnSenderOptions struct {
	link  *link
	spool *spool
	log   *slog.Logger
}

// returnSender delivers returns to one master. What it has taken is on disk before it is sent, and leaves the
// disk when the master has answered. Unlike Salt: a return is never given up because the master is away.
type returnSender struct {
	opt     returnSenderOptions
	self    *supervisor.Ref
	flying  int
	waiting []*pendingReturn // in order; not sent yet
	failed  []*pendingReturn // to be sent again by the next retrySpool
	warned  bool             // the spool cannot be written: said once
	timer   bool             // a retrySpool is on its way
}

// Limits of the ReturnSender.
const (
	maxFlying  = 12 // returns under way; requests of other kinds find free sockets
	retryPause = 2 * time.Second
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
		r.onRetrySpool(ctx)
	default:
		supervisor.Unhandled(ctx)
	}
}

// onStarted takes over what a predecessor, or the process before this one, left in the spool.
func (r *returnSender) onStarted(ctx actor.Context) {
	r.self = supervisor.Self(ctx)
	if dropped, err := r.opt.spool.trim(time.Now()); err != nil || len(dropped) > 0 {
		r.opt.log.Error("returns dropped from the spool", "dropped", dropped, "err", err)
	}
	names, err := r.opt.spool.names()
	if err != nil {
		r.opt.log.Error("the spool cannot be read", "err", err)
	}
	for _, name := range names {
		load, err := r.opt.spool.get(name)
		if err != nil {
			r.opt.log.Error("a spooled return cannot be read", "err", err)
			continue
		}
		r.waiting = append(r.waiting, &pendingReturn{jid: load.Str("jid"), name: name, load: load})
	}
	r.fly(ctx)
}

func (r *returnSender) onSendReturn(ctx actor.Context, m *SendReturn) {
	p := &pendingReturn{jid: m.JID, load: m.Load}
	name, err := r.opt.spool.put(time.Now(), m.JID, m.Load)
	if err != nil && !r.warned {
		r.opt.log.Error("returns cannot be kept on disk; they are lost if this process ends before the master has them", "err", err)
	}
	r.warned = err != nil
	if name != "" {
		p.name = name
	}
	if m.Kept != nil {
		m.Kept()
	}
	r.waiting = append(r.waiting, p)
	r.fly(ctx)
}

// fly sends what waits, as far as there is room.
func (r *returnSender) fly(ctx actor.Context) {
	for len(r.waiting) > 0 && r.flying < maxFlying {
		p := r.waiting[0]
		r.waiting[0] = nil
		r.waiting = r.waiting[1:]
		r.flying++
		self, l := r.self, r.opt.link
		supervisor.Go(ctx, "return", func(ctx context.Context) error {
			_, err := l.request(ctx, p.load, l.returnTimeout(), l.cfg.ReturnRetryTries)
			self.Send(&delivered{ret: p, err: err})
			return nil
		})
	}
}

func (r *returnSender) onDelivered(ctx actor.Context, m *delivered) {
	r.flying--
	if m.err != nil {
		r.failed = append(r.failed, m.ret)
		r.opt.log.Warn("the return waits for the master", "jid", m.ret.jid, "err", m.err)
		r.arm(ctx)
	} else if m.ret.name != "" {
		if err := r.opt.spool.done(m.ret.name); err != nil {
			r.opt.log.Error("a delivered return stays in the spool", "jid", m.ret.jid, "err", err)
		}
	}
	r.fly(ctx)
}

// arm asks for another attempt after a pause.
func (r *returnSender) arm(ctx actor.Context) {
	if r.timer {
		return
	}
	r.timer = true
	self := r.self
	supervisor.Go(ctx, "pause", func(ctx context.Context) error {
		select {
		case <-time.After(between(retryPause, 2*retryPause)):
			self.Send(&retrySpool{})
		case <-ctx.Done():
		}
		return nil
	})
}

func (r *returnSender) onRetrySpool(ctx actor.Context) {
	r.timer = false
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

// Lost tells the requester that no answer will come.
func (m *SendRequest) Lost(why error) {
	if m.Done != nil {
		m.Done(nil, why)
	}
}
