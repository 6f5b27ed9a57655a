package config

import (
	"fmt"
	"log/slog"
	"slices"

	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// place is one of the maps an option may stand in.
type place struct {
	omit bool
	read func() *payload.Map
}

// omitted says which maps are not asked.
type omitted struct{ opts, grains, pillar, master bool }

// places lists the maps in the order in which they are asked.
func places(c *loader.Call, omit omitted) []place {
	return []place{
		{omit.opts, c.Opts},
		{omit.grains, c.Grains},
		{omit.pillar, c.Pillar},
		{omit.master, func() *payload.Map { return masterOpts(c) }},
		{false, defaults},
	}
}

// path is what config.get looks up.
type path struct {
	Key        any  `arg:"key"`
	Default    any  `arg:"default=''"`
	Delimiter  any  `arg:"delimiter=:"`
	Merge      any  `arg:"merge=None"`
	OmitOpts   bool `arg:"omit_opts=False"`
	OmitPillar bool `arg:"omit_pillar=False"`
	OmitMaster bool `arg:"omit_master=False"`
	OmitGrains bool `arg:"omit_grains=False"`
}

func get(c *loader.Call, a path) (any, error) {
	key, delimiter := python.Str(a.Key), python.Str(a.Delimiter)
	if a.Merge != nil {
		return merged(c, a.Default, key, delimiter, python.Str(a.Merge))
	}
	omit := omitted{opts: a.OmitOpts, grains: a.OmitGrains, pillar: a.OmitPillar, master: a.OmitMaster}
	for i, p := range places(c, omit) {
		if p.omit {
			continue
		}
		if v, ok := dicts.Traverse(p.read(), key, delimiter); ok {
			return v, nil
		}
		if i == 0 {
			if v, ok := insideOpts(c, key, delimiter); ok {
				return v, nil
			}
		}
	}
	return a.Default, nil
}

// insideOpts finds paths that begin with grains or pillar, which count as options too.
func insideOpts(c *loader.Call, key, delimiter string) (any, bool) {
	for name, read := range map[string]func() *payload.Map{"grains": c.Grains, "pillar": c.Pillar} {
		if key == name {
			return read(), true
		}
		if n := len(name) + len(delimiter); delimiter != "" && len(key) > n && key[:n] == name+delimiter {
			return dicts.Traverse(read(), key[n:], delimiter)
		}
	}
	return nil, false
}

// merged joins all places, the strongest last, and looks the path up in the result.
func merged(c *loader.Call, otherwise any, key, delimiter, strategy string) (any, error) {
	if strategy != "recurse" && strategy != "overwrite" {
		c.Log(slog.LevelWarn, fmt.Sprintf("Unsupported merge strategy '%s'. Falling back to 'recurse'.", strategy))
		strategy = "recurse"
	}
	data := defaults()
	for _, m := range []*payload.Map{masterOpts(c), c.Pillar(), c.Grains(), c.Opts()} {
		m = dicts.Clone(m).(*payload.Map)
		if strategy == "overwrite" {
			for k, v := range m.All() {
				if data.Has(k) {
					data.Set(k, v)
				}
			}
		}
		dicts.Update(data, m, false)
	}
	if v, ok := dicts.Traverse(data, key, delimiter); ok {
		return v, nil
	}
	return otherwise, nil
}

// choice is the option, or the glob, that config.option looks up.
type choice struct {
	Name       any  `arg:"value"`
	Default    any  `arg:"default=None"`
	OmitOpts   bool `arg:"omit_opts=False"`
	OmitGrains bool `arg:"omit_grains=False"`
	OmitPillar bool `arg:"omit_pillar=False"`
	OmitMaster bool `arg:"omit_master=False"`
	OmitAll    bool `arg:"omit_all=False"`
	Wildcard   bool `arg:"wildcard=False"`
}

func option(c *loader.Call, a choice) (any, error) {
	omit := omitted{a.OmitOpts, a.OmitGrains, a.OmitPillar, a.OmitMaster}
	if a.OmitAll {
		omit = omitted{true, true, true, true}
	}
	all := places(c, omit)
	if a.Wildcard {
		return matching(all, loader.Text(a.Name), a.Default), nil
	}
	for _, p := range all {
		if p.omit {
			continue
		}
		if v, ok := p.read().Get(a.Name); ok {
			return v, nil
		}
	}
	if a.Default != nil {
		return a.Default, nil
	}
	return "", nil
}

// matching are all names that match a glob, with the value of the strongest place.
func matching(all []place, glob string, def any) any {
	out := payload.NewMap(0)
	add := func(p place, onlyNew bool) {
		for k, v := range p.read().All() {
			name, ok := k.(string)
			if ok && fnmatch.Match(glob, name) && !(onlyNew && out.Has(k)) {
				out.Set(k, v)
			}
		}
	}
	for _, p := range slices.Backward(all[:4]) {
		if !p.omit {
			add(p, false)
		}
	}
	add(all[4], true)
	switch {
	case out.Len() > 0:
		return out
	case def != nil:
		return def
	}
	return payload.NewMap(0)
}

// joined is the option that config.merge puts together.
type joined struct {
	Name       any  `arg:"value"`
	Default    any  `arg:"default=''"`
	OmitOpts   bool `arg:"omit_opts=False"`
	OmitMaster bool `arg:"omit_master=False"`
	OmitPillar bool `arg:"omit_pillar=False"`
}

func merge(c *loader.Call, a joined) (any, error) {
	var found any
	for _, p := range []place{
		{a.OmitOpts, c.Opts},
		{a.OmitMaster, func() *payload.Map { return masterOpts(c) }},
		{a.OmitPillar, c.Pillar},
	} {
		v, ok := p.read().Get(a.Name)
		if p.omit || !ok {
			continue
		}
		found = join(found, v)
		if _, isText := found.(string); isText {
			return found, nil
		}
	}
	if found == nil {
		if v, ok := defaults().Get(a.Name); ok {
			return v, nil
		}
		return a.Default, nil
	}
	return found, nil
}

// join puts what is known so far over a further value.
func join(known, more any) any {
	if known == nil {
		return more
	}
	switch k := known.(type) {
	case *payload.Map:
		if m, ok := more.(*payload.Map); ok {
			m = m.Clone()
			m.Update(k)
			return m
		}
	case []any:
		if l, ok := more.([]any); ok {
			return slices.Concat(k, l)
		}
	}
	return known
}
