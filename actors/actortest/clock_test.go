package actortest

import (
	"slices"
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	c := NewClock()
	begin := c.Now()
	var fired []time.Duration
	at := func(d time.Duration) func() bool {
		return c.AfterFunc(d, func() { fired = append(fired, c.Now().Sub(begin)) })
	}
	at(3 * time.Second)
	stop := at(2 * time.Second)
	at(time.Second)
	c.AfterFunc(time.Second, func() { at(500 * time.Millisecond) }) // a timer set by a timer
	c.WaitTimer(t, 2*time.Second)
	if !stop() || stop() {
		t.Error("stop: want true once")
	}
	c.Advance(999 * time.Millisecond)
	if len(fired) != 0 {
		t.Errorf("fired %v too early", fired)
	}
	c.Advance(time.Millisecond)
	c.Advance(time.Hour)
	want := []time.Duration{time.Second, 1500 * time.Millisecond, 3 * time.Second}
	if !slices.Equal(fired, want) {
		t.Errorf("fired at %v, want %v", fired, want)
	}
	if got := c.Now().Sub(begin); got != time.Hour+time.Second || len(c.Timers()) != 0 {
		t.Errorf("clock shows %s, timers %v", got, c.Timers())
	}
}
