package link

import (
	"errors"

	"brine/actors/daemon"
	"brine/supervisor"
	"brine/wire/event"
)

// pinger sends a minion_ping event every ping_interval. Where the master does not answer, auth_safemode has it
// looked for anew.
type pinger struct {
	link *Link
	self *supervisor.Ref
}

// pingDue says that it is time for a ping.
type pingDue struct{}

// ponged is the outcome of a ping.
type ponged struct{ err error }

func (p *pinger) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		p.self = supervisor.Self(ctx)
		p.arm(ctx)
	case *pingDue:
		p.onTick(ctx)
	case *ponged:
		p.onPonged(ctx, m.err)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (p *pinger) arm(ctx supervisor.Context) {
	daemon.After(ctx, p.link.clock, p.link.opt.PingEvery, &pingDue{})
}

func (p *pinger) onTick(ctx supervisor.Context) {
	p.arm(ctx)
	self := p.self
	p.link.Post(&Request{Load: EventLoad(p.link.opt.ID, event.TagMinionPing, "ping"), Done: func(_ any, err error) {
		self.Send(&ponged{err})
	}})
}

func (p *pinger) onPonged(ctx supervisor.Context, err error) {
	switch {
	case err == nil:
	case errors.Is(err, ErrNoMaster) && p.link.opt.AuthSafemode:
		p.link.log.Error("the master does not answer a ping: the connections are made anew", "err", err)
		supervisor.Send(ctx, p.link.authenticator, &SignIn{After: p.link.sessions.Load()})
		supervisor.Send(ctx, p.link.subscriber, &Reconnect{})
	default:
		p.link.log.Warn("Attempt to ping master failed.", "err", err)
	}
}
