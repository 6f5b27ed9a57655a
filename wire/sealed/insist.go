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

// Pauses between attempts that all lost their connection. The first repetition comes at once.
const (
	insistPause = 50 * time.Millisecond
	// InsistPauseMax is the longest of them.
	InsistPauseMax = 500 * time.Millisecond
)

// unrepeatable are the requests that have another effect when the master carries them out twice. If the connection is
// lost, the caller gets the error and decides.
var unrepeatable = []string{payload.CmdMinionPub, payload.CmdMinionPublish, payload.CmdMinionRunner,
	payload.CmdFileRecv}

// repeatable tells whether a request may be sent again although the master may have received it.
func repeatable(load *payload.Map) bool { return !slices.Contains(unrepeatable, payload.Command(load)) }

// Insist makes an attempt, and repeats it while the connection ends before the reply (transport.ErrLost). When ctx
// ends, it returns the error of a request that got no answer in time. So a restarted master gets the request as soon as
// it listens; the caller need not wait for the whole time-out of the request that the old process has lost. A nil clock
// is the real one.
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

// rest waits for d and tells whether ctx is still alive.
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

// OutOfTime is the error of a request whose context ended before its answer came.
func OutOfTime(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return transport.ErrTimeout
	}
	return context.Cause(ctx)
}
