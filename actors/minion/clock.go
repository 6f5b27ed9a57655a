package minion

import (
	"context"
	"math/rand/v2"
	"time"

	"brine/modules/host/steady"
	"brine/supervisor"
)

// realClock is the Clock of the machine.
type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// after sends msg to the actor itself when d is over, unless this incarnation has ended by then.
func after(ctx supervisor.Context, clock supervisor.Clock, d time.Duration, msg any) {
	self := supervisor.Self(ctx)
	during(supervisor.Lifetime(ctx), clock, d, func() { self.Send(msg) })
}

// during calls f when d is over, unless life has ended by then. Neither end leaves anything behind with the other: what
// hangs on the context of an actor that lives for years would gather there.
func during(life context.Context, clock supervisor.Clock, d time.Duration, f func()) {
	unhook := make(chan func() bool, 1)
	stop := clock.AfterFunc(d, func() {
		if stopped := <-unhook; stopped() {
			f()
		}
	})
	unhook <- context.AfterFunc(life, func() { stop() })
}

// between is a random duration from low to high.
func between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + rand.N(high-low)
}

// newSteady watches the clock of this machine.
func (m *Minion) newSteady() *steady.Clock {
	began := m.clock.Now()
	look := func() (time.Time, time.Duration) {
		now := m.clock.Now()
		if m.opt.elapsed != nil {
			return now, m.opt.elapsed()
		}
		return now, now.Sub(began)
	}
	return steady.New(look, func(jump time.Duration) {
		m.log.Warn("the clock of this machine was set: nothing is removed for its age for a while", "by", jump, "while",
			steady.Rest)
	})
}

// noClock is before the time of any machine whose clock was set. One without a battery begins near 1970.
var noClock = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// plausible is when something was written down, or now when the clock cannot have been right then.
func plausible(at, now time.Time) time.Time {
	if at.Before(noClock) || at.After(now) {
		return now
	}
	return at
}
