// Package opts holds the grain of the options, for those who want it (grain_opts). Answers to salt/grains/opts.py.
package opts

import (
	"brine/modules/grains"
	"brine/wire/payload"
)

// Module is the grains of opts.
func Module() grains.Module {
	return grains.Module{File: "opts", Groups: func(h *grains.Host) []grains.Group {
		return []grains.Group{
			{Name: "opts", Keys: []string{"opts"}, Run: func() *payload.Map { return all(h) }},
		}
	}}
}

func all(h *grains.Host) *payload.Map {
	if on, _ := h.Opts.Value("grain_opts").(bool); on {
		return payload.M("opts", h.Opts)
	}
	return payload.NewMap(0)
}
