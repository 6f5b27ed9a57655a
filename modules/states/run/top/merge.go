package top

import (
	"slices"

	"brine/modules/loader"
	"brine/wire/payload"
)

// merge merges the top files by the strategy.
func (t *Tops) merge(files []*file) (Top, error) {
	m := &merging{top: payload.NewMap(0)}
	switch t.opt.Strategy {
	case "same":
		m.same(files, t.opt.DefaultTop)
	case "merge_all":
		for _, f := range files {
			m.sections(f, m.everywhere, func(any) bool { return true })
		}
	default:
		m.authoritative(files)
	}
	return m.top, m.err
}

// merging is a merge under way.
type merging struct {
	top Top
	err error
}

// sections takes over the sections of a file that count.
func (m *merging) sections(f *file, take func(env any, targets *payload.Map), counts func(env any) bool) {
	for _, top := range f.tops {
		for env, v := range top.All() {
			if env == any("include") || !counts(env) {
				continue
			}
			targets, ok := v.(*payload.Map)
			switch {
			case ok:
				take(env, targets)
			case !nothing(v):
				m.err = loader.Raise(RenderError, "Unable to render top file. No targets found.")
			}
		}
	}
}

// nothing is an empty list or text, which Python goes through without a complaint.
func nothing(v any) bool {
	list, isList := v.([]any)
	return v == any("") || isList && len(list) == 0
}

// section is that of an environment in the merged top.
func (m *merging) section(env any) *payload.Map {
	s, ok := m.top.Value(env).(*payload.Map)
	if !ok {
		s = payload.NewMap(0)
		m.top.Set(env, s)
	}
	return s
}

// set takes the targets of a section over, each in place of what was there.
func (m *merging) set(env any, targets *payload.Map) {
	if targets.Len() > 0 {
		m.section(env).Update(targets)
	}
}

// authoritative is the strategy merge: base counts first; of the others the section of their own environment counts,
// where base has none.
func (m *merging) authoritative(files []*file) {
	for _, f := range files {
		if f.env == "base" {
			m.sections(f, m.set, func(any) bool { return true })
		}
	}
	for _, f := range files {
		if f.env == "base" {
			continue
		}
		m.sections(f, m.set, func(env any) bool { return env == any(f.env) && !m.top.Has(env) })
	}
}

// same is the strategy same: of each top file the section of its own environment counts. An environment without a top
// file has that of another one.
func (m *merging) same(files []*file, other string) {
	for _, f := range files {
		from := f
		if f.empty() {
			i := slices.IndexFunc(files, func(f *file) bool { return f.env == other })
			if i < 0 || files[i].empty() {
				continue
			}
			from = files[i]
		}
		m.sections(from, m.set, func(env any) bool { return env == any(f.env) })
	}
}

func (f *file) empty() bool {
	return !slices.ContainsFunc(f.tops, func(top *payload.Map) bool { return top.Len() > 0 })
}

// everywhere is how the strategy merge_all takes a section over: targets grow.
func (m *merging) everywhere(env any, targets *payload.Map) {
	for target, more := range targets.All() {
		section := m.section(env)
		old, known := section.Get(target)
		if known {
			more = joined(old, more)
		}
		section.Set(target, more)
	}
}

// joined is a target that has two lists: the last map of either, for the matcher, and the SLS of both.
func joined(a, b any) any {
	how, names := readTarget(a)
	over, others := readTarget(b)
	if over != nil {
		how = over
	}
	var out []any
	if how != nil {
		out = append(out, how)
	}
	out = append(out, names...)
	known := len(out)
	for _, name := range others {
		if !slices.ContainsFunc(out[:known], func(v any) bool { return payload.Equal(v, name) }) {
			out = append(out, name)
		}
	}
	return out
}

func readTarget(v any) (how any, names []any) {
	list, _ := v.([]any)
	for _, item := range list {
		switch item.(type) {
		case *payload.Map:
			how = item
		case string:
			names = append(names, item)
		}
	}
	return how, names
}
