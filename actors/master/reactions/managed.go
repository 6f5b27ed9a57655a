package reactions

import (
	"context"
	"errors"

	"brine/actors/reacting"
	"brine/modules/runners"
	"brine/wire/control"
	"brine/wire/payload"
)

// Managed is the Reactor as the runner functions reactor.* see it.
func (r *Reactions) Managed() (runners.Reactor, bool) {
	part := r.part.Load()
	return managedReactor{part}, part != nil
}

type managedReactor struct{ *reacting.Part }

// List is the rules.
func (m managedReactor) List(context.Context) ([]any, error) { return m.Part.List(), nil }

// Add adds a rule.
func (m managedReactor) Add(_ context.Context, tag, sls any) (*payload.Map, error) {
	return m.Part.Add(tag, sls), nil
}

// Delete takes a rule away.
func (m managedReactor) Delete(_ context.Context, tag any) (*payload.Map, error) {
	return m.Part.Delete(tag), nil
}

// Leader tells whether this master reacts.
func (m managedReactor) Leader(context.Context) (bool, error) { return m.Leads(), nil }

// SetLeader says whether it does.
func (m managedReactor) SetLeader(_ context.Context, yes bool) (bool, error) {
	m.Lead(yes)
	return m.Leads(), nil
}

// Manage does what the runner functions reactor.* do.
func (r *Reactions) Manage(q control.ManageReactor) (control.ReactorManaged, error) {
	part := r.part.Load()
	if part == nil {
		return control.ReactorManaged{}, nil
	}
	var out control.ReactorManaged
	switch q.Do {
	case "list", "is_leader":
	case "add":
		out.Result = part.Add(q.Event, q.Files)
	case "delete":
		out.Result = part.Delete(q.Event)
	case "set_leader":
		part.Lead(q.Value)
	default:
		return out, errors.New("the Reactor does not know " + payload.Show(q.Do))
	}
	out.Running, out.Leader, out.Reactors = true, part.Leads(), part.List()
	return out, nil
}
