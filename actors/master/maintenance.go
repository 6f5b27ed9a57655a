package master

import (
	"context"
	"log/slog"
	"time"

	"brine/supervisor"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of Maintenance.
type (
	// Maintain does what is due at a moment.
	Maintain struct{ Now time.Time }
	// RotateKey makes a new shared key now, whatever the schedule says.
	RotateKey struct{}
)

// watchTick is how often the request for a new key (.dfn) is looked for, and how often the health file says
// that the master lives. Unlike Salt: a deleted key must count at once, not after loop_interval.
const (
	watchTick  = time.Second
	aliveEvery = 5 * time.Second
)

// maintenanceOptions are what Maintenance needs of the master. Every function may be called from its actor only.
type maintenanceOptions struct {
	loop    time.Duration // loop_interval
	session time.Duration // publish_session: life of the shared key, 0 for ever
	last    *time.Time    // of the last rotation; outlives the actor, so that a restart does not put it off

	takeDrop func() (bool, error) // asks whether salt-key wants a new key, and takes the request
	rotate   func() error
	ping     func() // with ping_on_rotate
	alive    func() error
	clean    []func(now time.Time) error // tokens, publish_auth, stale proc files
	jobs     func(now time.Time)         // asks the job store to clean up
	presence func(now time.Time)         // nil unless presence_events
	fire     func(tag string, data *payload.Map)
	log      *slog.Logger
}

// schedule is when the pieces of Maintenance are due next.
type schedule struct{ loop, alive time.Time }

// maintenance does the master's regular work: key rotation, clean-up, presence, the health file.
type maintenance struct {
	opt maintenanceOptions
	due schedule
}

func (m *maintenance) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		m.onStarted(ctx)
	case *Maintain:
		m.onMaintain(ctx, msg.Now)
	case *RotateKey:
		m.rotate(ctx, time.Now())
	default:
		supervisor.Unhandled(ctx)
	}
}

func (m *maintenance) onStarted(ctx actor.Context) {
	self := supervisor.Self(ctx)
	self.Send(&Maintain{Now: time.Now()})
	supervisor.Go(ctx, "timer", func(ctx context.Context) error {
		t := time.NewTicker(watchTick)
		defer t.Stop()
		for {
			select {
			case now := <-t.C:
				self.Send(&Maintain{Now: now})
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
}

// next tells what is due and when it is due again.
func (s schedule) next(now time.Time, loop time.Duration) (then schedule, doLoop, doAlive bool) {
	then = s
	if !now.Before(s.loop) {
		then.loop, doLoop = now.Add(loop), true
	}
	if !now.Before(s.alive) {
		then.alive, doAlive = now.Add(aliveEvery), true
	}
	return then, doLoop, doAlive
}

func (m *maintenance) onMaintain(ctx actor.Context, now time.Time) {
	wanted, err := m.opt.takeDrop()
	if err != nil {
		m.opt.log.Error("the request for a new key cannot be read", "err", err)
	}
	if wanted || (m.opt.session > 0 && now.Sub(*m.opt.last) >= m.opt.session) {
		m.rotate(ctx, now)
	}
	then, doLoop, doAlive := m.due.next(now, m.opt.loop)
	m.due = then
	if doAlive {
		m.check(ctx, "the health file cannot be written", m.opt.alive())
	}
	if !doLoop {
		return
	}
	m.opt.jobs(now)
	for _, clean := range m.opt.clean {
		m.check(ctx, "clean-up failed", clean(now))
	}
	if m.opt.presence != nil {
		m.opt.presence(now)
	}
}

func (m *maintenance) check(ctx actor.Context, what string, err error) {
	if err != nil {
		supervisor.Failed(ctx)
		m.opt.log.Error(what, "err", err)
	}
}

// rotate makes a new shared key. Minions notice with the next publication they cannot open.
func (m *maintenance) rotate(ctx actor.Context, now time.Time) {
	m.opt.log.Info("Rotating master AES key")
	if err := m.opt.rotate(); err != nil {
		m.check(ctx, "the shared key cannot be rotated", err)
		return
	}
	*m.opt.last = now
	m.opt.fire("key", payload.M("rotate_aes_key", true))
	if m.opt.ping != nil {
		m.opt.ping()
	}
}
