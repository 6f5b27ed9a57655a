package maintenance

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"brine/modules/host/steady"
	"brine/supervisor"
	"brine/wire/event"
	"brine/wire/payload"
)

// Messages of Maintenance.
type (
	// Maintain does what is due at a moment.
	Maintain struct{ Now time.Time }
	// RotateKey makes a new shared key now, whatever the schedule says.
	RotateKey struct{}
	// CheckKeys looks at the key folders and for a request for a new shared key now, not at the next tick.
	CheckKeys struct{}
)

// watchTick is how often the request for a new key (.dfn) is looked for, and how often the health file says
// that the master lives. Unlike Salt: a deleted key must count at once, not after loop_interval.
const (
	watchTick  = time.Second
	aliveEvery = 5 * time.Second
)

// maintenanceOptions are what Maintenance needs of the master. Every function is called from its actor only.
type maintenanceOptions struct {
	loop    time.Duration // loop_interval
	session time.Duration // publish_session: life of the shared key, 0 for ever
	past    *remembered   // outlives the actor

	takeDrop func() (bool, error) // asks whether salt-key wants a new key, and takes the request
	rotate   func() error
	changed  func() (keys, sessions time.Time) // when accepted and sessions can last have changed
	accepted func() ([]string, error)          // ids with an accepted key
	sessions func() ([]string, error)          // ids with a session key
	foreign  func(id string) error             // ends a session that was made for another key than the accepted one
	revoke   func(id string) error
	ping     func() // with ping_on_rotate
	alive    func()
	jobs     func(now time.Time)         // asks the job store to clean up
	facts    func()                      // asks it to keep what is known of jobs
	first    func(ctx context.Context)   // what is looked at once, when the master starts
	tasks    []func(now time.Time) error // the rest of a turn of Salt's loop
	fire     func(tag string, data *payload.Map)
	log      *slog.Logger
}

// dueTimes are when the pieces of Maintenance are due next.
type dueTimes struct{ loop, alive time.Time }

// maintenance does the master's regular work: key rotation, clean-up, presence, the health file.
type maintenance struct {
	opt    maintenanceOptions
	due    dueTimes
	looked time.Time // when sessions were last compared with accepted keys,
	keys   time.Time // and when both folders had changed then
	ends   time.Time
}

func (m *maintenance) Receive(ctx supervisor.Context) {
	switch msg := ctx.Message().(type) {
	case *supervisor.Started:
		m.onStarted(ctx)
	case *Maintain:
		m.onMaintain(ctx, msg.Now)
	case *CheckKeys:
		m.checkKeys(ctx, time.Now(), true)
	case *RotateKey:
		m.rotate(ctx, time.Now())
	default:
		supervisor.Unhandled(ctx)
	}
}

func (m *maintenance) onStarted(ctx supervisor.Context) {
	self := supervisor.Self(ctx)
	self.Send(&Maintain{Now: time.Now()})
	if first := m.opt.first; first != nil && supervisor.Incarnation(ctx) == 1 {
		supervisor.Go(ctx, "first look", func(ctx context.Context) error { first(ctx); return nil })
	}
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
func (s dueTimes) next(now time.Time, loop time.Duration) (then dueTimes, doLoop, doAlive bool) {
	then = s
	if !now.Before(s.loop) {
		then.loop, doLoop = now.Add(loop), true
	}
	if !now.Before(s.alive) {
		then.alive, doAlive = now.Add(aliveEvery), true
	}
	return then, doLoop, doAlive
}

func (m *maintenance) onMaintain(ctx supervisor.Context, now time.Time) {
	m.turn(ctx, now, now.Sub(m.opt.past.began))
}

// turn does what is due at a moment; elapsed is the time since the start, which no clock can set.
func (m *maintenance) turn(ctx supervisor.Context, now time.Time, elapsed time.Duration) {
	if jump := m.opt.past.clock.Look(now, elapsed); jump != 0 {
		m.opt.log.Warn("the clock of this machine was set: nothing is removed for its age for a while", "by", jump,
			"while", steady.Rest)
		m.due = dueTimes{} // it may lie far in the future
	}
	m.checkKeys(ctx, now, !now.Before(m.due.loop))
	then, doLoop, doAlive := m.due.next(now, m.opt.loop)
	m.due = then
	if doAlive {
		m.opt.alive()
		m.opt.facts()
	}
	if !doLoop {
		return
	}
	if m.opt.past.clock.Calm() {
		m.opt.jobs(now)
	} else {
		m.opt.jobs(nothingOld) // what there is too much of goes all the same
	}
	for _, task := range m.opt.tasks {
		m.check(ctx, "maintenance failed", task(now))
	}
}

// nothingOld is a time at which nothing is too old.
var nothingOld = time.Unix(0, 0)

// checkKeys ends the sessions of minions whose keys are gone or others, whoever has changed them, and rotates the
// shared key when that is asked for or due. A key that was exchanged in its file changes no folder: it is found with
// all. Unlike Salt: real masters keep the session key of a deleted minion, and give it to the next one of its id.
func (m *maintenance) checkKeys(ctx supervisor.Context, now time.Time, all bool) {
	keys, sessions := m.opt.changed()
	if all = all || m.moved(keys, m.keys); all || m.moved(sessions, m.ends) {
		m.looked, m.keys, m.ends = now, keys, sessions
		m.check(ctx, "sessions cannot be compared with accepted keys", m.endSessions(all))
	}
	wanted, err := m.opt.takeDrop()
	m.check(ctx, "the request for a new key cannot be read", err)
	if wanted || (m.opt.session > 0 && now.Sub(m.opt.past.rotated) >= m.opt.session) {
		m.rotate(ctx, now)
	}
}

// moved says whether a folder may have changed since it had a time stamp: the stamp is another one, earlier or later,
// for clocks are set, or so young that a change since then could have the same one.
func (m *maintenance) moved(at, before time.Time) bool {
	return !at.Equal(before) || m.looked.Sub(at).Abs() <= stampStep
}

// stampStep is how much older than a change the time stamp of a folder may seem.
const stampStep = 2 * time.Second

// endSessions ends the sessions of ids without an accepted key and, with foreign, of those whose accepted key is
// another one now. Sessions are listed first: a key is accepted before its session is made.
func (m *maintenance) endSessions(foreign bool) error {
	sessions, err := m.opt.sessions()
	if err != nil || len(sessions) == 0 {
		return err
	}
	accepted, err := m.opt.accepted()
	if err != nil {
		return err
	}
	in := make(map[string]bool, len(accepted))
	for _, id := range accepted {
		in[id] = true
	}
	for _, id := range sessions {
		switch {
		case !in[id]:
			err = errors.Join(err, m.opt.revoke(id))
		case foreign:
			err = errors.Join(err, m.opt.foreign(id))
		}
	}
	return err
}

func (m *maintenance) check(ctx supervisor.Context, what string, err error) {
	if err != nil {
		supervisor.Failed(ctx)
		m.opt.log.Error(what, "err", err)
	}
}

// rotate makes a new shared key. Minions notice with the next publication they cannot open.
func (m *maintenance) rotate(ctx supervisor.Context, now time.Time) {
	m.opt.log.Info("Rotating master AES key")
	if err := m.opt.rotate(); err != nil {
		m.check(ctx, "the shared key cannot be rotated", err)
		return
	}
	m.opt.past.rotated = now
	m.opt.fire(event.TagRotateKey, event.RotateKey())
	if m.opt.ping != nil {
		m.opt.ping()
	}
}
