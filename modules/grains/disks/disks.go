// Package disks holds the grains of block devices. Answers to salt/grains/disks.py.
package disks

import (
	"os"
	"path/filepath"
	"strings"

	"brine/modules/grains"
	"brine/wire/payload"
)

// Module is the grains of disks.
func Module() grains.Module {
	return grains.Module{File: "disks", Groups: func(h *grains.Host) []grains.Group {
		return []grains.Group{
			{Name: "disks", Keys: []string{"disks", "ssds"}, Run: func() *payload.Map { return find(h) }},
		}
	}}
}

// find sorts the block devices that are no virtual ones into rotating disks and the others.
func find(h *grains.Host) *payload.Map {
	rotating, solid := []any{}, []any{}
	entries, _ := os.ReadDir(h.Path("sys/block"))
	for _, e := range entries {
		link, err := os.Readlink(filepath.Join(h.Path("sys/block"), e.Name()))
		if err != nil || strings.HasPrefix(link, "../devices/virtual/") {
			continue
		}
		switch flag := h.Read("sys/block/" + e.Name() + "/queue/rotational"); {
		case strings.HasPrefix(flag, "0"):
			solid = append(solid, e.Name())
		case strings.HasPrefix(flag, "1"):
			rotating = append(rotating, e.Name())
		}
	}
	return payload.M("disks", rotating, "ssds", solid)
}
