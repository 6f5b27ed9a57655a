package sealed

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/wire/transport"
)

// TestInsist loses the connection five times: the first repetition comes at once, each later one after a pause twice as
// long.
func TestInsist(t *testing.T) {
	clock := actortest.NewClock()
	attempts := make(chan int, 10)
	done := make(chan error, 1)
	go func() {
		n := 0
		reply, err := Insist(t.Context(), clock, func(context.Context) ([]byte, error) {
			n++
			attempts <- n
			if n <= 5 {
				return nil, fmt.Errorf("request: %w", transport.ErrLost)
			}
			return []byte("yes"), nil
		})
		if string(reply) != "yes" {
			err = fmt.Errorf("reply %q, %w", reply, err)
		}
		done <- err
	}()
	for _, pause := range []time.Duration{0, 0, 50, 100, 200, 400} { // before the attempt, in ms
		if pause > 0 {
			clock.WaitTimer(t, pause*time.Millisecond)
			clock.Advance(pause*time.Millisecond - 1)
			if len(attempts) > 0 {
				t.Fatalf("an attempt before %d ms are over", pause)
			}
			clock.Advance(1)
		}
		actortest.Wait(t, "attempt", attempts)
	}
	if err := actortest.Wait(t, "reply", done); err != nil {
		t.Error(err)
	}
}

// TestInsistEnds: the context ends during a pause.
func TestInsistEnds(t *testing.T) {
	cause := errors.New("the actor stops")
	for _, tt := range []struct {
		name string
		end  func(t *testing.T) (context.Context, func())
		want error
	}{
		{"out of time", func(t *testing.T) (context.Context, func()) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			t.Cleanup(cancel)
			return ctx, func() {}
		}, transport.ErrTimeout},
		{"cancelled", func(t *testing.T) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(t.Context())
			return ctx, func() { cancel(cause) }
		}, cause},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, end := tt.end(t)
			lost := 0
			_, err := Insist(ctx, actortest.NewClock(), func(context.Context) ([]byte, error) {
				if lost++; lost == 2 {
					end()
				}
				return nil, transport.ErrLost
			})
			if !errors.Is(err, tt.want) {
				t.Errorf("after %d attempts: got %v, want %v", lost, err, tt.want)
			}
		})
	}
}
