package netapi

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"brine/modules/netapi"
	"brine/supervisor"
)

// callsMax is the greatest number of chunks that run at the same time.
const callsMax = 4096

// calls starts an actor for each chunk of a lowstate, so that an operator can see and end waiting requests.
type calls struct {
	tree *supervisor.Supervisor
	next atomic.Uint64
	now  atomic.Int64
}

// outcome is the result of a call.
type outcome struct {
	value any
	err   error
}

// errCancelled is the result of a call that an operator has ended.
var errCancelled = errors.New("netapi: the call was ended before it was done")

// work is the work of a call. It ends with its context. note shows in the tree of actors what the work waits
// for.
type work func(ctx context.Context, note func(text string)) (any, error)

// run runs f as an actor and waits for it. The actor ends with ctx.
func (c *calls) run(ctx context.Context, f work) (any, error) {
	defer c.now.Add(-1)
	if c.now.Add(1) > callsMax {
		return nil, netapi.Busy("requests")
	}
	done, name, err := c.start(onBehalf(ctx, f))
	if err != nil {
		return nil, err
	}
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		c.tree.Done(name)
		return nil, context.Cause(ctx)
	}
}

// detach runs f as an actor without waiting for it.
func (c *calls) detach(ctx context.Context, f work) error {
	if c.now.Add(1) > callsMax {
		c.now.Add(-1)
		return netapi.Busy("requests")
	}
	_, _, err := c.start(onBehalf(ctx, func(ctx context.Context, note func(string)) (any, error) {
		defer c.now.Add(-1)
		return f(ctx, note)
	}))
	if err != nil {
		c.now.Add(-1)
	}
	return err
}

// onBehalf makes work for the client of ctx that outlives ctx.
func onBehalf(ctx context.Context, f work) work {
	from := netapi.From(ctx)
	return func(ctx context.Context, note func(string)) (any, error) { return f(netapi.WithFrom(ctx, from), note) }
}

// start starts f as an actor.
func (c *calls) start(f work) (<-chan outcome, string, error) {
	name := "Call-" + strconv.FormatUint(c.next.Add(1), 10)
	done := make(chan outcome, 1)
	_, err := c.tree.Add(supervisor.Spec{Name: name, StopTimeout: time.Second, New: func() supervisor.Actor {
		return &call{work: f, done: done}
	}})
	if err != nil {
		return nil, "", fmt.Errorf("start call: %w", err)
	}
	return done, name, nil
}

// These are the messages of a call.
type (
	// callNoted says what the call waits for.
	callNoted struct{ text string }
	// callEnded is the end of the call.
	callEnded struct{ outcome outcome }
)

// call runs one chunk. Only the first incarnation runs it. A later one reports that the call was ended.
type call struct {
	work work
	done chan<- outcome
}

func (c *call) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		c.onStarted(ctx)
	case *callNoted:
		supervisor.Note(ctx, m.text)
	case *callEnded:
		c.finish(ctx, m.outcome)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (c *call) onStarted(ctx supervisor.Context) {
	self, f := supervisor.Self(ctx), c.work
	if supervisor.Incarnation(ctx) > 1 {
		c.finish(ctx, outcome{err: errCancelled})
		return
	}
	supervisor.Go(ctx, "call", func(ctx context.Context) error {
		v, err := f(ctx, func(text string) { self.Send(&callNoted{text}) })
		self.Send(&callEnded{outcome{v, err}})
		return nil
	})
}

func (c *call) finish(ctx supervisor.Context, o outcome) {
	select {
	case c.done <- o:
	default: // the client has its answer already
	}
	supervisor.Of(ctx).Done(supervisor.Self(ctx).Name())
}
