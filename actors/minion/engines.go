package minion

import (
	"context"
	"errors"
	"fmt"

	"brine/actors/daemon"
	"brine/actors/engines"
	"brine/wire/payload"
	"brine/wire/python"
)

// fireForEngine sends an event by event.send, as Salt's engines do: to the masters that are there, or on the own bus of
// a minion without.
func (m *Minion) fireForEngine(ctx context.Context, tag string, data *payload.Map) error {
	sent, err := m.callForEngine(ctx, "execution", "event.send", []any{tag, data}, nil)
	if err == nil && !python.Truth(sent) {
		err = errors.New("no master has taken it")
	}
	return err
}

// callForEngine runs a function of this minion, as one of the first master that is there.
func (m *Minion) callForEngine(ctx context.Context, client, fun string, args []any, kw *payload.Map) (any,
	error) {
	if client != "execution" {
		return nil, fmt.Errorf("there is no client %s: a minion has execution", payload.Show(client))
	}
	return daemon.CallIn(ctx, m.envOf(m.anyLink()), fun, args, kw)
}

// engineRows are the engines as children of the minion, and its Reactor, if it is among them.
func (m *Minion) engineRows() ([]daemon.Child, error) {
	set, err := engines.New(engines.Options{Engines: m.own.engines, Role: "minion", ID: m.own.id,
		MaxEvent: m.own.eventMost, Daemon: daemon.NewEngineRoom(m.bus, m.fireForEngine,
			m.callForEngine), Log: m.log})
	if err != nil {
		return nil, fmt.Errorf("engines: %w", err)
	}
	rows, err := m.reactorRows(set.Reactor)
	if err != nil {
		return nil, err
	}
	return append(rows, daemon.EngineRows(set)...), nil
}
