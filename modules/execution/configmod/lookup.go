package configmod

import (
	"fmt"
	"log/slog"
	"slices"

	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/text/dicts"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// place is one of the maps an option may stand in.
type place struct {
	omit bool
	read func() *payload.Map
}

// places lists the maps in the order in which they are asked.
func places(c *loader.Call, a loader.Args) []place {
	return []place{
		{a.Bool("omit_opts"), c.Opts},
		{a.Bool("omit_grains"), c.Grains},
		{a.Bool("omit_pillar"), c.Pillar},
		{a.Bool("omit_master"), func() *payload.Map { return masterOpts(c) }},
		{false, defaults},
	}
}

func get(c *loader.Call, a loader.Args) (any, error) {
	key, delimiter := pytext.Str(a.Get("key")), pytext.Str(a.Get("delimiter"))
	if v := a.Get("merge"); v != nil {
		return merged(c, a, key, delimiter, pytext.Str(v))
	}
	for i, p := range places(c, a) {
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
	return a.Get("default"), nil
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
func merged(c *loader.Call, a loader.Args, key, delimiter, strategy string) (any, error) {
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
	return a.Get("default"), nil
}

func option(c *loader.Call, a loader.Args) (any, error) {
	all := places(c, a)
	if a.Bool("omit_all") {
		for i := range all[:4] {
			all[i].omit = true
		}
	}
	if a.Bool("wildcard") {
		return matching(all, a.Str("value"), a.Get("default")), nil
	}
	for _, p := range all {
		if p.omit {
			continue
		}
		if v, ok := p.read().Get(a.Get("value")); ok {
			return v, nil
		}
	}
	if d := a.Get("default"); d != nil {
		return d, nil
	}
	return "", nil
}

// matching are all names that match a glob, with the value of the strongest place.
func matching(all []place, glob string, def any) any {
	out := payload.NewMap(0)
	add := func(p place, onlyNew bool) {
		for k, v := range p.read().All() {
			name, ok := k.(string)
			if ok && matchers.GlobMatch(glob, name) && !(onlyNew && out.Has(k)) {
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

func merge(c *loader.Call, a loader.Args) (any, error) {
	name := a.Get("value")
	var found any
	for _, p := range []place{
		{a.Bool("omit_opts"), c.Opts},
		{a.Bool("omit_master"), func() *payload.Map { return masterOpts(c) }},
		{a.Bool("omit_pillar"), c.Pillar},
	} {
		v, ok := p.read().Get(name)
		if p.omit || !ok {
			continue
		}
		found = join(found, v)
		if _, isText := found.(string); isText {
			return found, nil
		}
	}
	if found == nil {
		if v, ok := defaults().Get(name); ok {
			return v, nil
		}
		return a.Get("default"), nil
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
