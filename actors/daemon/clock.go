package daemon

import (
	"context"
	"math/rand/v2"
	"time"

	"brine/supervisor"
)

// RealClock is the Clock of the machine.
type RealClock struct{}

func (RealClock) Now() time.Time { return time.Now() }

func (RealClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// After sends msg to the actor itself when d is over, unless this incarnation has ended by then.
func After(ctx supervisor.Context, clock supervisor.Clock, d time.Duration, msg any) {
	self := supervisor.Self(ctx)
	During(supervisor.Lifetime(ctx), clock, d, func() { self.Send(msg) })
}

// During calls f when d is over, unless life has ended by then. Neither end leaves anything behind with the other: what
// hangs on the context of an actor that lives for years would gather there.
func During(life context.Context, clock supervisor.Clock, d time.Duration, f func()) {
	unhook := make(chan func() bool, 1)
	stop := clock.AfterFunc(d, func() {
		if stopped := <-unhook; stopped() {
			f()
		}
	})
	unhook <- context.AfterFunc(life, func() { stop() })
}

// Between is a random duration from low to high.
func Between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + rand.N(high-low)
}
