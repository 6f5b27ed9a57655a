package sealed

import (
	"context"
	"errors"
	"slices"
	"time"

	"brine/wire/payload"
	"brine/wire/transport"
)

// Clock makes pauses.
type Clock interface {
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

type realClock struct{}

func (realClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// Pauses between attempts whose connection was lost each time. The first repetition comes at once.
const (
	insistPause = 50 * time.Millisecond
	// InsistPauseMax is the longest of them.
	InsistPauseMax = 500 * time.Millisecond
)

// unrepeatable are the requests that would have another effect when the master carries them out twice. Where their
// connection is lost, the caller learns it and decides.
var unrepeatable = []string{payload.CmdMinionPub, payload.CmdMinionPublish, payload.CmdMinionRunner,
	payload.CmdFileRecv}

// repeatable tells whether a request may be made again when nobody knows whether the master has it.
func repeatable(load *payload.Map) bool { return !slices.Contains(unrepeatable, payload.Command(load)) }

// Insist makes an attempt, and makes it again while the connection ends before the reply (transport.ErrLost), until ctx
// ends: then the error is that of a request which got no answer in time. A master that is started anew is asked as soon
// as it listens, instead of after the whole time-out of the request that it has forgotten. A nil clock is the real one.
func Insist(ctx context.Context, clock Clock, attempt func(context.Context) ([]byte, error)) ([]byte, error) {
	if clock == nil {
		clock = realClock{}
	}
	for pause := time.Duration(0); ; pause = min(max(2*pause, insistPause), InsistPauseMax) {
		reply, err := attempt(ctx)
		if !errors.Is(err, transport.ErrLost) {
			return reply, err
		}
		if !rest(ctx, clock, pause) {
			return nil, OutOfTime(ctx)
		}
	}
}

// rest waits for d and tells whether ctx still stands.
func rest(ctx context.Context, clock Clock, d time.Duration) bool {
	if d == 0 {
		return ctx.Err() == nil
	}
	over := make(chan struct{})
	stop := clock.AfterFunc(d, func() { close(over) })
	defer stop()
	select {
	case <-over:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// OutOfTime is the error of a request whose context has ended before it had an answer.
func OutOfTime(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return transport.ErrTimeout
	}
	return context.Cause(ctx)
}
