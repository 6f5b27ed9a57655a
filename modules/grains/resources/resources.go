// Package resources holds the grain of the resources that a minion manages. Answers to salt/grains/resources.py.
package resources

import (
	"brine/modules/grains"
	"brine/wire/payload"
)

// Module is the grains of resources.
func Module() grains.Module {
	return grains.Module{File: "resources", Groups: func(h *grains.Host) []grains.Group {
		return []grains.Group{
			{Name: "resources", Keys: []string{"salt_resources"}, Run: func() *payload.Map { return managed(h) }},
		}
	}}
}

func managed(h *grains.Host) *payload.Map {
	if m := h.Opts.Map("resources"); m.Len() > 0 {
		return payload.M("salt_resources", m)
	}
	return payload.NewMap(0)
}
