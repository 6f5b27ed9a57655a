package service

import (
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// toggle is what has to be done for a service to start with the host, or not to.
type toggle struct {
	result  any
	comment string
	changes *payload.Map // nil: those that there are stay
	apply   func() (toggle, error)
}

// choose takes a text by whether the service runs: true, false, or nil for what nobody looked at.
func choose(started any, yes, unknown, no string) string {
	switch started {
	case true:
		return yes
	case nil:
		return unknown
	}
	return no
}

// wording are the words for one direction.
type wording struct{ verb, done, title, boot, runs string }

func wordsOf(on bool) wording {
	if on {
		return wording{"enable", "enabled", "Enable", "start at boot", ", but the service is running"}
	}
	return wording{"disable", "disabled", "Disable", "not start at boot", ", and is running"}
}

// toggle plans that the service starts with the host, or (on is false) that it does not. started says what the comment
// tells of the service; result is what an earlier part came to.
func (s *service) toggle(on bool, started, result any) (toggle, error) {
	there, err := s.available()
	why, failed := failure(err)
	switch {
	case failed:
		return toggle{result: false, comment: why}, nil
	case err != nil:
		return toggle{}, err
	case !there:
		return toggle{result: !on, comment: "The named service " + s.name + " is not available"}, nil
	}
	w := wordsOf(on)
	if !s.c.Has("service."+w.verb) || !s.c.Has("service."+w.done) {
		return toggle{result: result, comment: w.title + " is not available on this minion, service " + s.name + " " +
			choose(started, "started", "is in the desired state", "is dead")}, nil
	}
	already, err := s.is(w)
	if err != nil {
		return toggle{}, err
	}
	state := choose(started, ", and is running", ", and is in the desired state", ", and is dead")
	if already {
		t := toggle{result: result, comment: "Service " + s.name + " is already " + w.done + state}
		if started == nil {
			t.changes = payload.NewMap(0)
		}
		return t, nil
	}
	return toggle{comment: "Service " + s.name + " set to be " + w.done, apply: func() (toggle, error) {
		return s.apply(w, started, result, state)
	}}, nil
}

// is tells whether the service is enabled, or disabled.
func (s *service) is(w wording) (bool, error) {
	kw := s.kw
	if w.done == "disabled" {
		kw = nil
	}
	v, err := s.c.Salt("service."+w.done, kw, s.name)
	return python.Truth(v), err
}

// apply does what toggle plans.
func (s *service) apply(w wording, started, result any, state string) (toggle, error) {
	done, err := s.c.Salt("service."+w.verb, s.kw, s.name)
	why, failed := failure(err)
	if err != nil && (!failed || w.verb == "disable") {
		return toggle{}, err
	}
	if err == nil && python.Truth(done) {
		after, err := s.is(w)
		if err != nil {
			return toggle{}, err
		}
		changes := payload.NewMap(1)
		if after {
			changes.Set(s.name, true)
		}
		return toggle{result: result, comment: "Service " + s.name + " has been " + w.done + state, changes: changes}, nil
	}
	comment := "Failed when setting service " + s.name + " to " + w.boot +
		choose(started, w.runs, ", but the service was already running", ", and the service is dead")
	if failed {
		comment += ". Additional information follows:\n\n" + why
	}
	return toggle{result: false, comment: comment}, nil
}

// plan is a toggle as the whole plan of a state.
func (t toggle) plan() states.Plan {
	p := states.Plan{Result: t.result, Comment: t.comment, Changes: t.changes}
	if t.apply != nil {
		p.Apply = func() (states.Done, error) {
			t, err := t.apply()
			return states.Done{Result: t.result, Comment: t.comment, Changes: t.changes}, err
		}
	}
	return p
}

// update plans the toggle that is wanted, if any, does it, and puts it over what a state came to so far.
func (s *service) update(d *states.Done, wanted, started, result any) error {
	on, given := wanted.(bool)
	if !given {
		return nil
	}
	t, err := s.toggle(on, started, result)
	if err == nil && t.apply != nil {
		t, err = t.apply()
	}
	if err != nil {
		return err
	}
	d.Result, d.Comment = t.result, t.comment
	if t.changes != nil {
		d.Changes = t.changes
	}
	return nil
}

type named struct {
	Name string       `arg:"name"`
	KW   *payload.Map `arg:"**kwargs"`
}

func enabled(c *states.Call, a named) (states.Plan, error) {
	s := &service{c: c, name: a.Name, kw: a.KW}
	t, err := s.toggle(true, nil, true)
	if err != nil {
		return states.Plan{}, err
	}
	if absent := "The named service " + a.Name + " is not available"; t.comment == absent {
		return states.Would("Service "+a.Name+" not present; if created in this state run, it would have been enabled",
			nil, func() (states.Done, error) { return states.Failed(absent, nil) }), nil
	}
	return t.plan(), nil
}

func disabled(c *states.Call, a named) (states.Plan, error) {
	s := &service{c: c, name: a.Name, kw: a.KW}
	t, err := s.toggle(false, nil, true)
	return t.plan(), err
}
