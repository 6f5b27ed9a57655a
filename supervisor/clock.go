package supervisor

import "time"

// realClock is the Clock of the machine.
type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// nanosOf returns a cheap reading of the clock, in nanoseconds since this call, and never 0.
func nanosOf(c Clock) func() int64 {
	epoch := c.Now().Add(-time.Nanosecond)
	if _, ok := c.(realClock); ok {
		return func() int64 { return int64(time.Since(epoch)) } // one monotonic reading, without wall time
	}
	return func() int64 { return int64(c.Now().Sub(epoch)) }
}
