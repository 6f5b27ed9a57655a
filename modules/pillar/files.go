package pillar

import (
	"log/slog"
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// maxIncludes is how deep includes may lie in each other. Salt ends at about there with a RecursionError.
const maxIncludes = 200

// files renders the SLS files that the minion gets and merges them over the override.
func (r *run) files(m *matched) (*payload.Map, error) {
	out := r.override.Clone()
	for _, env := range r.envOrder(m) {
		names, err := r.expand(m.of[env], env)
		if err != nil {
			return nil, err
		}
		mods := map[string]any{}
		for _, sls := range names {
			state, wrong, err := r.state(sls, env, mods, payload.NewMap(0), 0)
			if err != nil {
				return nil, err
			}
			r.errors = append(r.errors, wrong...)
			state, ok := state.(*payload.Map)
			if !ok {
				continue
			}
			if out, err = r.merge(out, state); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// envOrder is the order in which the environments are merged: env_order first, then as they stand.
func (r *run) envOrder(m *matched) []string {
	var out []string
	for _, env := range loader.StringList(r.opts.Value("env_order")) {
		if slices.Contains(m.envs, env) {
			out = append(out, env)
		}
	}
	for _, env := range m.envs {
		if !slices.Contains(out, env) {
			out = append(out, env)
		}
	}
	return out
}

// expand replaces the globs among names of SLS files.
func (r *run) expand(names []string, env string) ([]string, error) {
	var out []string
	for _, name := range names {
		found, ok, err := r.envs.matching(name, env)
		if err != nil {
			return nil, err
		}
		if !ok {
			r.fail("No matching pillar environment for environment '%s' found", env)
		}
		if len(found) == 0 {
			found = []string{name}
		}
		out = append(out, found...)
	}
	return out, nil
}

// state renders one SLS file with what it includes. mods holds what is rendered already, without its includes. The
// result is nil where there is nothing; an error is an exception that Salt does not catch.
func (r *run) state(sls, env string, mods map[string]any, defaults any, depth int) (state any, wrong []any, err error) {
	if depth > maxIncludes {
		return nil, nil, loader.Raise("RecursionError", "maximum recursion depth exceeded: pillar files include "+
			"each other %d levels deep", depth)
	}
	tell := func(text string) {
		r.log(slog.LevelError, "%s", text)
		wrong = append(wrong, text)
	}
	file, relative := r.envs.sls(sls, env)
	switch {
	case file != "":
	case r.ignored[env+"\x00"+sls]:
		return nil, nil, nil
	case len(r.envs.dirs[env]) > 0:
		tell("Specified SLS '" + sls + "' in environment '" + env + "' is not available on the salt master")
	default:
		r.log(slog.LevelDebug, "Specified SLS '%s' in environment '%s' was not found.", sls, env)
		return nil, nil, nil
	}
	state, err = r.renderState(file, sls, env, defaults)
	if r.ctx.Err() != nil {
		return nil, nil, r.ctx.Err()
	}
	if err != nil {
		r.log(slog.LevelError, "Rendering SLS '%s' failed, render error:\n%s", sls, loader.Message(err))
		text := "Rendering SLS '" + sls + "' failed. Please see master log for details."
		if safe, set := r.opts.Get("pillar_safe_render_error"); set && !python.Truth(safe) {
			text = "Rendering SLS '" + sls + "' failed, render error:\n" + loader.Message(err)
		}
		wrong = append(wrong, text)
		state = nil
	}
	mods[sls] = state
	if !python.Truth(state) {
		return state, wrong, nil
	}
	m, ok := state.(*payload.Map)
	if !ok {
		tell("SLS '" + sls + "' does not render to a dictionary")
		return state, wrong, nil
	}
	if !m.Has("include") {
		return m, wrong, nil
	}
	list, ok := m.Value("include").([]any)
	if !ok {
		tell("Include Declaration in SLS '" + sls + "' is not formed as a list")
		return m, wrong, nil
	}
	m.Delete("include")
	i := includer{run: r, sls: sls, env: env, mods: mods, defaults: defaults, init: strings.HasSuffix(relative,
		"/init.sls"), depth: depth, wrong: wrong}
	return i.all(m, list)
}

// arguments are those of Salt's compile_template, which defaults of an include cannot set.
var arguments = []string{"template", "renderers", "default", "blacklist", "whitelist", "saltenv", "sls"}

// renderState renders the file of an SLS with the defaults of the include that names it.
func (r *run) renderState(file, sls, env string, defaults any) (any, error) {
	if defaults == nil {
		defaults = payload.NewMap(0)
	}
	given, ok := defaults.(*payload.Map)
	if !ok {
		return nil, &loader.ArgumentError{Message: "salt.template.compile_template() argument after ** must be a " +
			"mapping, not " + python.Type(defaults)}
	}
	kw := payload.NewMap(given.Len())
	for key, value := range given.All() {
		name, ok := key.(string)
		switch {
		case !ok:
			return nil, &loader.ArgumentError{Message: "keywords must be strings"}
		case slices.Contains(arguments, name):
			return nil, &loader.ArgumentError{Message: "compile_template() got multiple values for argument '" + name +
				"'"}
		case name == "argline" && python.Truth(value) && value != any("-s"):
			return nil, loader.Raise("salt.exceptions.SaltRenderError", "Unknown renderer option: %s",
				python.Str(value))
		case name != "env" && name != "tmplpath" && name != "argline":
			kw.Set(name, value)
		}
	}
	return r.compileFile(file, env, sls, kw)
}

// includer carries out the includes of one SLS file.
type includer struct {
	*run
	sls, env string
	init     bool // the file is an init.sls
	mods     map[string]any
	defaults any // those of the last include that had some: they stay for the next ones, as in Salt
	// the errors of the SLS that was rendered last: Salt tells them again for one that is not rendered again
	last  []any
	wrong []any
	depth int
}

// all merges what is included, and the file itself over it, or under it with pillar_includes_override_sls.
func (i *includer) all(state *payload.Map, includes []any) (any, []any, error) {
	over := python.Truth(i.opts.Value("pillar_includes_override_sls"))
	var parts []any
	for _, include := range includes {
		name, key, err := i.read(include)
		if err != nil {
			return nil, nil, err
		}
		targets, err := i.targets(name)
		if err != nil {
			return nil, nil, err
		}
		for _, target := range targets {
			part, err := i.one(target, key)
			switch {
			case err != nil:
				return nil, nil, err
			case !python.Truth(part):
			case over:
				if state, err = i.merge(state, part); err != nil {
					return nil, nil, err
				}
			default:
				parts = append(parts, part)
			}
			i.wrong = append(i.wrong, i.last...)
		}
	}
	if over {
		return state, i.wrong, nil
	}
	merged := any(nil)
	for n, part := range append(parts, state) {
		var err error
		if n == 0 {
			merged = part
		} else if merged, err = i.merging.Merge(merged, part); err != nil {
			return nil, nil, err
		}
	}
	return merged, i.wrong, nil
}

// read takes an entry of an include apart: a name, or {name: {defaults: ..., key: ...}}.
func (i *includer) read(include any) (name string, key []string, err error) {
	m, ok := include.(*payload.Map)
	if !ok {
		name, ok := include.(string)
		if !ok {
			return "", nil, noAttribute(include, "lstrip")
		}
		return name, nil, nil
	}
	for first, settings := range m.All() {
		set, ok := settings.(*payload.Map)
		if !ok {
			return "", nil, noAttribute(settings, "get")
		}
		i.defaults = payload.NewMap(0)
		if given, ok := set.Get("defaults"); ok {
			i.defaults = given
		}
		if name, ok = first.(string); !ok {
			return "", nil, noAttribute(first, "lstrip")
		}
		switch k := set.Value("key").(type) {
		case string:
			if k != "" {
				key = strings.Split(k, ":")
			}
		default:
			if python.Truth(k) {
				return "", nil, noAttribute(k, "split")
			}
		}
		return name, key, nil
	}
	return "", nil, loader.Raise("StopIteration", "")
}

func noAttribute(v any, name string) error {
	return loader.Raise("AttributeError", "'%s' object has no attribute '%s'", python.Type(v), name)
}

// targets are the SLS files that an include means. Salt looks for the name as it stands, and for the one that it stands
// for where it begins with a dot; one that both find comes twice, and so do its values in lists that are merged.
func (i *includer) targets(name string) ([]string, error) {
	found, ok, err := i.envs.matching(strings.ReplaceAll(strings.TrimLeft(name, "."), "/", "."), i.env)
	if err != nil {
		return nil, err
	}
	if !ok {
		i.wrong = append(i.wrong, "No matching pillar environment for environment '"+i.env+"' found")
		return []string{name}, nil
	}
	if rest, relative := strings.CutPrefix(name, "."); relative {
		parts := strings.Split(i.sls, ".")
		if !i.init {
			parts = parts[:len(parts)-1]
		}
		name = strings.Join(append(slices.Clone(parts), rest), ".")
	}
	more, _, err := i.envs.matching(name, i.env)
	if err != nil {
		return nil, err
	}
	if found = append(slices.Clone(found), more...); len(found) == 0 {
		found = []string{name}
	}
	return found, nil
}

// one renders one included SLS, unless that is done, and puts it below key.
func (i *includer) one(sls string, key []string) (any, error) {
	state, done := i.mods[sls]
	if !done {
		var err error
		if state, i.last, err = i.run.state(sls, i.env, i.mods, i.defaults, i.depth+1); err != nil {
			return nil, err
		}
	}
	if !python.Truth(state) {
		return nil, nil
	}
	for _, part := range slices.Backward(key) {
		state = payload.M(part, state)
	}
	return state, nil
}
