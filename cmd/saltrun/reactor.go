package saltrun

import (
	"context"
	"errors"
	"time"

	"brine/cmd/masterlink"
	"brine/cmd/session"
	"brine/modules/loader"
	"brine/wire/control"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// reactorWait bounds the wait for an answer of a Reactor, as in Salt.
const reactorWait = 30 * time.Second

// reactorConfigured tells whether the configuration gives the master a Reactor, as Salt's runner does.
func reactorConfigured(s *session.Session) bool {
	if engines := s.Master.Raw.List("engines"); len(engines) > 0 {
		for _, one := range engines {
			if m, ok := one.(*payload.Map); one == "reactor" || ok && m.Has("reactor") {
				return true
			}
		}
		return false
	}
	return python.Truth(s.Master.Raw.Value("reactor"))
}

// masterReactor is the Reactor of the running master. A brine master is asked on its control socket, so that no
// key travels over the bus. A Salt master is asked with events.
type masterReactor struct{ *session.Session }

// do asks a brine master, or a Salt master with the event of the same name. end is the end of the answer's tag.
func (m masterReactor) do(ctx context.Context, q control.ManageReactor, data *payload.Map,
	end string) (got control.ReactorManaged, answer *payload.Map, err error) {
	ctx, cancel := context.WithTimeout(ctx, reactorWait)
	defer cancel()
	daemon := control.At(m.Master.SockDir)
	if !daemon.Here() {
		answer, err = m.byEvents(ctx, q.Do, data, end)
		return got, answer, err
	}
	got, err = control.Ask(ctx, daemon, q)
	if err == nil && !got.Running {
		err = loader.ExecErr("Reactor system is not running.")
	}
	return got, nil, err
}

// byEvents asks as Salt's runner does.
func (m masterReactor) byEvents(ctx context.Context, do string, data *payload.Map, end string) (*payload.Map, error) {
	const tag = "salt/reactors/manage/"
	bus, wire := masterlink.NewBus(m.Session), masterlink.NewClient(m.Session)
	defer func() { _ = errors.Join(bus.Close(), wire.Close()) }() // the answer does not depend on it
	events, err := wire.Events(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = events.Close() }()
	if err := bus.Fire(ctx, tag+do, data.Set("key", wire.Key())); err != nil {
		return nil, err
	}
	for {
		body, err := events.Next(ctx)
		if err != nil {
			return nil, err
		}
		if event.Tag(body) == tag+end {
			_, answer, err := event.Unpack(body)
			return answer, err
		}
	}
}

// List returns the rules.
func (m masterReactor) List(ctx context.Context) ([]any, error) {
	got, answer, err := m.do(ctx, control.ManageReactor{Do: "list"}, payload.NewMap(1), "list-results")
	if answer != nil {
		return answer.List("reactors"), err
	}
	return got.Reactors, err
}

// Add adds a rule.
func (m masterReactor) Add(ctx context.Context, tag, sls any) (*payload.Map, error) {
	files, _ := sls.([]any)
	got, answer, err := m.do(ctx, control.ManageReactor{Do: "add", Event: python.Str(tag), Files: files},
		payload.M("event", tag, "reactors", sls), "add-complete")
	if answer != nil {
		return answer.Map("result"), err
	}
	return got.Result, err
}

// Delete removes a rule.
func (m masterReactor) Delete(ctx context.Context, tag any) (*payload.Map, error) {
	got, answer, err := m.do(ctx, control.ManageReactor{Do: "delete", Event: python.Str(tag)}, payload.M("event", tag),
		"delete-complete")
	if answer != nil {
		return answer.Map("result"), err
	}
	return got.Result, err
}

// Leader tells whether the master's Reactor is active.
func (m masterReactor) Leader(ctx context.Context) (bool, error) {
	got, answer, err := m.do(ctx, control.ManageReactor{Do: "is_leader"}, payload.NewMap(1), "leader/value")
	if answer != nil {
		return answer.Bool("result"), err
	}
	return got.Leader, err
}

// SetLeader makes the master's Reactor active or inactive.
func (m masterReactor) SetLeader(ctx context.Context, yes bool) (bool, error) {
	got, answer, err := m.do(ctx, control.ManageReactor{Do: "set_leader", Value: yes}, payload.M("id", m.Master.ID,
		"value", yes), "leader/value")
	if answer != nil {
		return answer.Bool("result"), err
	}
	return got.Leader, err
}
