package minion

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"brine/actors/engines"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// engineRoom is this minion as its engines see it. Any number of goroutines may use it.
type engineRoom struct {
	m       *Minion
	streams atomic.Uint64
}

// Listen shows the bus to an engine.
func (r *engineRoom) Listen(ctx context.Context, sink func(tag string, body []byte)) (stop func(), err error) {
	name, stands := "engine-"+strconv.FormatUint(r.streams.Add(1), 10), make(chan struct{})
	stop = func() { r.m.bus.Send(&Unsubscribe{Name: name}) }
	r.m.bus.Send(&Subscribe{Name: name, Sink: sink, Done: stands})
	select {
	case <-stands:
		return stop, nil
	case <-ctx.Done():
		stop()
		return nil, context.Cause(ctx)
	}
}

// Fire sends an event by event.send, as Salt's engines do: to the masters that are there, or on the own bus of a minion
// without.
func (r *engineRoom) Fire(ctx context.Context, tag string, data *payload.Map) error {
	sent, err := r.Call(ctx, "execution", "event.send", []any{tag, data}, nil)
	if err == nil && !python.Truth(sent) {
		err = errors.New("no master has taken it")
	}
	return err
}

// Call runs a function of this minion, as one of the first master that is there.
func (r *engineRoom) Call(ctx context.Context, client, fun string, args []any, kw *payload.Map) (any, error) {
	if client != "execution" {
		return nil, fmt.Errorf("there is no client %s: a minion has execution", payload.Show(client))
	}
	env := r.m.envOf(r.m.anyLink())
	return loader.NewCall(ctx, env, fun, payload.M("fun", fun)).Call(fun, args, kw)
}

// engineRows are the engines as children of the minion, and its Reactor, if it is among them.
func (m *Minion) engineRows() ([]child, error) {
	set, err := engines.New(engines.Options{Engines: m.own.engines, Role: "minion", ID: m.own.id,
		MaxEvent: m.own.eventMost, Daemon: &engineRoom{m: m}, Log: m.log})
	if err != nil {
		return nil, fmt.Errorf("engines: %w", err)
	}
	rows, err := m.reactorRows(set.Reactor)
	if err != nil {
		return nil, err
	}
	for _, spec := range set.Children {
		rows = append(rows, child{spec: spec})
	}
	return rows, nil
}
