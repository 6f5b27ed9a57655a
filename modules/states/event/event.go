// Package event is the state module event: a state that sends an event to the master. Answers to salt/states/event.py.
package event

import (
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module event.
func Module() loader.Module {
	return loader.Module{File: "event", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("send", send, "Send an event to the master.", "event.send:", "  - name: mycompany/done",
				"  - data:", "      which: this"),
			states.Fn("fire_master", send, "Another name of send.").Named("send"),
			states.Fn("wait", wait, "Send an event when something that is watched has changed."),
			states.Fn("mod_watch", send, "Send an event to the master.").Named("send"),
		}
	}}
}

type sending struct {
	Name        any          `arg:"name"`
	Data        any          `arg:"data=None"`
	Preload     any          `arg:"preload=None"`
	WithEnv     any          `arg:"with_env=False"`
	WithGrains  any          `arg:"with_grains=False"`
	WithPillar  any          `arg:"with_pillar=False"`
	ShowChanged any          `arg:"show_changed=True"`
	KW          *payload.Map `arg:"**kwargs"`
}

func send(c *states.Call, a sending) (states.Plan, error) {
	var changes *payload.Map
	if python.Truth(a.ShowChanged) {
		changes = payload.M("tag", a.Name, "data", a.Data)
	}
	return states.Would("Event would have been fired", changes, func() (states.Done, error) {
		kw := a.KW.Clone()
		kw.Update(payload.M("data", a.Data, "preload", a.Preload, "with_env", a.WithEnv, "with_grains", a.WithGrains,
			"with_pillar", a.WithPillar))
		v, err := c.Salt("event.send", kw, a.Name)
		return states.Done{Result: v, Comment: "Event fired", Changes: changes}, err
	}), nil
}

type waiting struct {
	Name any `arg:"name"`
	Sfun any `arg:"sfun=None"`
	Data any `arg:"data=None"`
}

// wait does nothing: mod_watch does it.
func wait(*states.Call, waiting) (states.Plan, error) { return states.Correct(""), nil }
