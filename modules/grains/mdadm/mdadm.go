// Package mdadm holds the grain of software RAID devices. Answers to salt/grains/mdadm.py.
package mdadm

import (
	"sort"
	"strings"

	"brine/modules/grains"
	"brine/wire/payload"
)

// Module is the grains of mdadm.
func Module() grains.Module {
	return grains.Module{File: "mdadm", Groups: func(h *grains.Host) []grains.Group {
		return []grains.Group{
			{Name: "mdadm", Keys: []string{"mdadm"}, Run: func() *payload.Map { return devices(h) }},
		}
	}}
}

// devices lists software RAID devices.
func devices(h *grains.Host) *payload.Map {
	if !h.Exists("proc/mdstat") {
		return payload.NewMap(0)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(h.Read("proc/mdstat")) {
		if strings.HasPrefix(line, "Personalities : ") || strings.HasPrefix(line, "unused devices:") {
			continue
		}
		if name, _, ok := strings.Cut(line, " : "); ok {
			seen[name] = true
		}
	}
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, name)
	}
	sort.Strings(names)
	return payload.M("mdadm", payload.AnyList(names))
}
