// Package lvm holds the grain of logical volumes. Answers to salt/grains/lvm.py.
package lvm

import (
	"strings"

	"brine/modules/grains"
	"brine/modules/host/program"
	"brine/wire/payload"
)

// Module is the grains of lvm.
func Module() grains.Module {
	return grains.Module{File: "lvm", Groups: func(*grains.Host) []grains.Group {
		return []grains.Group{
			{Name: "lvm", Keys: []string{"lvm"}, Slow: true, Run: volumes},
		}
	}}
}

// volumes lists logical volumes by volume group; only where lvm is installed.
func volumes() *payload.Map {
	tool := program.Which("lvm")
	if tool == "" {
		return payload.NewMap(0)
	}
	groups := payload.NewMap(0)
	names, _ := grains.Output(tool, "vgs", "-o", "vg_name", "--noheadings")
	for vg := range strings.Lines(names) {
		list := []any{}
		vg = strings.TrimSpace(vg)
		found, _ := grains.Output(tool, "lvs", "-o", "lv_name", "--noheadings", vg)
		for lv := range strings.Lines(found) {
			list = append(list, strings.TrimSpace(lv))
		}
		groups.Set(vg, list)
	}
	return payload.M("lvm", groups)
}
