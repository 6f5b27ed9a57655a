package pillar

import (
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"

	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/renderers"
	"brine/modules/text/dicts"
	"brine/modules/tops/confirm"
	"brine/wire/payload"
	"brine/wire/python"
)

// topFile is what all top files say together: for each environment its targets in order, and what each target gets.
type topFile struct {
	envs []string
	of   map[string]*topEnv
}

type topEnv struct {
	targets *payload.Map // target → []any: the maps with "match" first, then the names of SLS files
	order   map[any]int64
}

func (t *topFile) env(name string) *topEnv {
	e := t.of[name]
	if e == nil {
		e = &topEnv{targets: payload.NewMap(0), order: map[any]int64{}}
		t.of[name] = e
		t.envs = append(t.envs, name)
	}
	return e
}

// rendered are the top files as they are rendered, by environment.
type rendered struct {
	env  string
	tops []any
}

// top reads the top files and joins them.
func (r *run) top() (*topFile, error) {
	tops, err := r.topFiles()
	if err != nil {
		return nil, err
	}
	top, err := r.joinTops(tops)
	if err != nil {
		if loader.ClassOf(err) != "TypeError" {
			return nil, err
		}
		r.fail("Error encountered while rendering pillar top file.")
		return &topFile{of: map[string]*topEnv{}}, nil
	}
	return top, nil
}

// topFiles renders the top files of the environments that count, and those that they include.
func (r *run) topFiles() ([]*rendered, error) {
	var tops []*rendered
	name := strings.TrimPrefix(r.opts.Str("state_top"), "salt://")
	for _, env := range r.topEnvs() {
		file := r.envs.find(name, env)
		if file == "" {
			continue
		}
		top, err := r.compileFile(file, env, "", nil)
		if err != nil {
			r.fail("Rendering Primary Top file failed, render error:\n%s", loader.Message(err))
			break
		}
		tops = append(tops, &rendered{env, []any{top}})
	}
	for _, t := range tops {
		included, err := takeIncludes(t.tops[0])
		if err != nil {
			return nil, err
		}
		r.includeTops(t, included)
	}
	return tops, r.ctx.Err()
}

// topEnvs are the environments whose top files are read.
func (r *run) topEnvs() []string {
	if env := text(r.opts.Value("pillarenv")); env != "" {
		if r.envs.has(env) {
			return []string{env}
		}
		return nil
	}
	all := r.envs.all()
	if r.opts.Str("pillar_source_merging_strategy") != "none" {
		return all
	}
	only := text(r.q.Saltenv)
	if only == "" {
		only = "base"
	}
	return slices.DeleteFunc(all, func(env string) bool { return env != only })
}

// takeIncludes removes the includes from a top file. What is wrong with them are the errors that Python has for it.
func takeIncludes(top any) ([]any, error) {
	has, err := contains(top, "include")
	if err != nil || !has {
		return nil, err
	}
	m, ok := top.(*payload.Map)
	if !ok {
		return nil, noIndex(top, "include")
	}
	list, err := iterate(m.Value("include"))
	if err == nil {
		m.Delete("include")
	}
	return list, err
}

func (r *run) includeTops(t *rendered, included []any) {
	done := map[any]bool{}
	for _, sls := range included {
		name, ok := sls.(string)
		if ok && done[name] {
			continue
		}
		done[name] = true
		var top any
		err := loader.Raise("TypeError", "argument of type '%s' is not iterable", python.Type(sls))
		if ok {
			file, _ := r.envs.sls(name, t.env)
			top, err = r.compileFile(file, t.env, "", nil)
		}
		if err != nil {
			r.fail("Rendering Top file %s failed, render error:\n%s", python.Str(sls), loader.Message(err))
			continue
		}
		t.tops = append(t.tops, top)
	}
}

// compileFile renders a file; without one the result is an empty map.
func (r *run) compileFile(file, env, sls string, kw *payload.Map) (any, error) {
	if file == "" {
		return payload.NewMap(0), nil
	}
	all := payload.NewMap(kw.Len() + 1)
	all.Update(kw)
	all.Set("_pillar_rend", true)
	in := renderers.Input{Template: file, Saltenv: env, SLS: sls, KW: all}
	return r.render.Compile(r.ctx, r.renderer(), in)
}

// joinTops merges the top files. A TypeError is one that Salt has a text for; others end the compilation.
func (r *run) joinTops(tops []*rendered) (*topFile, error) {
	out := &topFile{of: map[string]*topEnv{}}
	for _, t := range tops {
		for _, one := range t.tops {
			m, ok := one.(*payload.Map)
			if !ok {
				return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'items'", python.Type(one))
			}
			for env, targets := range m.All() {
				if env == any("include") {
					continue
				}
				if err := r.joinEnv(out, python.Str(env), targets); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, env := range out.envs {
		out.of[env].sort()
	}
	return out, nil
}

func (r *run) joinEnv(out *topFile, env string, targets any) error {
	all, err := iterate(targets)
	if err != nil {
		return err
	}
	m, _ := targets.(*payload.Map)
	for _, tgt := range all {
		if m == nil {
			return noIndex(targets, tgt)
		}
		if err := r.joinTarget(out.env(env), env, tgt, m.Value(tgt)); err != nil {
			return err
		}
	}
	return nil
}

// joinTarget notes what one target gets. Where two files have the same target the later one counts.
func (r *run) joinTarget(in *topEnv, env string, tgt, given any) error {
	list, err := iterate(given)
	if err != nil {
		return err
	}
	var data, states []any
	ignoreMissing := false
	in.order[tgt] = 0
	for _, comp := range list {
		switch c := comp.(type) {
		case *payload.Map:
			if c.Has("match") {
				data = append(data, c)
			}
			if c.Has("order") {
				if in.order[tgt], err = toInt(c.Value("order")); err != nil {
					return err
				}
			}
			ignoreMissing = ignoreMissing || python.Truth(c.Value("ignore_missing"))
		case string:
			if !slices.Contains(states, any(c)) {
				states = append(states, c)
			}
		}
	}
	if ignoreMissing {
		for _, sls := range states {
			r.ignored[env+"\x00"+sls.(string)] = true
		}
	}
	in.targets.Set(tgt, append(data, states...))
	return nil
}

// sort puts the targets into the order that they ask for.
func (e *topEnv) sort() {
	keys := e.targets.Keys()
	slices.SortStableFunc(keys, func(a, b any) int { return int(e.order[a] - e.order[b]) })
	sorted := payload.NewMap(len(keys))
	for _, key := range keys {
		sorted.Set(key, e.targets.Value(key))
	}
	e.targets = sorted
}

// matched are the SLS files that the minion gets, by environment, in order.
type matched struct {
	envs []string
	of   map[string][]string
}

// matches works out which targets mean the minion.
func (r *run) matches(top *topFile) (*matched, error) {
	out := &matched{of: map[string][]string{}}
	facts := &matchers.Facts{ID: r.q.ID, Grains: r.grains, Pillar: r.pillar, Nodegroups: r.opts.Map("nodegroups")}
	only := text(r.opts.Value("pillarenv"))
	for _, env := range top.envs {
		if only != "" && env != only {
			continue
		}
		for tgt, data := range top.of[env].targets.All() {
			list := data.([]any)
			ok, err := r.confirm(facts, tgt, list)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			if _, known := out.of[env]; !known {
				out.envs, out.of[env] = append(out.envs, env), nil
			}
			for _, item := range list {
				if sls, ok := item.(string); ok && !slices.Contains(out.of[env], sls) {
					out.of[env] = append(out.of[env], sls)
				}
			}
		}
	}
	return out, nil
}

// confirm tells whether a target means the minion.
func (r *run) confirm(facts *matchers.Facts, tgt any, data []any) (bool, error) {
	kind, err := confirm.Kind(data)
	if err != nil {
		return false, err
	}
	hit, err := matchers.Match(tgt, kind, "", facts)
	if err != nil {
		r.log(slog.LevelError, "pillar top file: target %s: %s", python.Str(tgt), err)
	}
	return hit, nil
}

// contains is Python's "in".
func contains(v any, key string) (bool, error) {
	switch v := v.(type) {
	case *payload.Map:
		return v.Has(key), nil
	case []any:
		return dicts.Contains(v, key), nil
	case string:
		return strings.Contains(v, key), nil
	}
	return false, &loader.ArgumentError{Message: "argument of type '" + python.Type(v) + "' is not iterable"}
}

// iterate lists what Python's "for" goes through.
func iterate(v any) ([]any, error) {
	switch v := v.(type) {
	case *payload.Map:
		return v.Keys(), nil
	case []any:
		return v, nil
	case string:
		out := make([]any, 0, len(v))
		for _, char := range v {
			out = append(out, string(char))
		}
		return out, nil
	}
	return nil, &loader.ArgumentError{Message: "'" + python.Type(v) + "' object is not iterable"}
}

// noIndex is Python's complaint about a list or a text that is asked for a key.
func noIndex(v, key any) error {
	if _, isText := v.(string); isText {
		return &loader.ArgumentError{Message: "string indices must be integers, not '" + python.Type(key) + "'"}
	}
	return &loader.ArgumentError{Message: "list indices must be integers or slices, not " + python.Type(key)}
}

// toInt is the order of a target; text that is no number is 0.
func toInt(v any) (int64, error) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case int64:
		return v, nil
	case uint64:
		return math.MaxInt64, nil
	case float64:
		if math.Abs(v) < 1<<62 {
			return int64(v), nil
		}
		return 0, nil
	case string:
		n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if err != nil {
			n = 0
		}
		return n, nil
	}
	return 0, &loader.ArgumentError{Message: "int() argument must be a string, a bytes-like object or a real " +
		"number, not '" + python.Type(v) + "'"}
}
