// Package event is the runner module event: it fires events on the master's bus. Answers to salt/runners/event.py.
package event

import (
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module event.
func Module(o runners.Options) loader.Module {
	return loader.Module{File: "event", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("send", send(o.Bus), "Fire an event on the master's bus.",
				"salt-run event.send my/custom/event '{\"foo\": \"bar\"}'"),
		}
	}}
}

type sent struct {
	Tag  string `arg:"tag"`
	Data any    `arg:"data=None"`
}

func send(bus runners.Bus) func(*loader.Call, sent) (bool, error) {
	return func(c *loader.Call, a sent) (bool, error) {
		if bus == nil {
			return false, runners.Unavailable("event bus")
		}
		data, ok := a.Data.(*payload.Map)
		if !ok {
			if python.Truth(a.Data) {
				return false, loader.Raise("ValueError", "Dictionary object expected, not '%s'.", loader.Text(a.Data))
			}
			data = payload.NewMap(0)
		}
		return bus.Fire(c.Ctx, a.Tag, data) == nil, nil
	}
}
