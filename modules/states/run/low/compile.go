// Package low turns high data into low data: a list of chunks, each of them one call of a function, in the order in
// which they are to be made: by their requisites, and by order among those that wait for nothing. The package renders
// nothing and calls nothing; states and the Reactor stand on it. Answers to State.compile_high_data and the class
// Compiler of salt/state.py and to salt/utils/requisite.py.
package low

import (
	"slices"
	"strings"

	"brine/modules/states/run/high"
	"brine/wire/payload"
	"brine/wire/python"
)

// Options say how high data is compiled.
type Options struct {
	// AsReactions takes arguments as the Reactor does: a name that is no text stays, and so does an argument "state".
	AsReactions bool
	Disabled    []string // keywords of requisites that mean nothing (disabled_requisites)
	// Watches tells whether a module has a function for watch; watch is require for one that has none. nil: all have.
	Watches func(module string) bool
	// Allowed tells whether a chunk may be there at all. nil: all may.
	Allowed func(chunk *payload.Map) bool
	// Aggregates tells whether a chunk may be carried out together with others of its module. nil: none may.
	Aggregates func(chunk *payload.Map) bool
}

// Compile turns high data that high.Verify has nothing against into chunks in their order. A chunk holds state (the
// module), fun, name, __id__, order, what the SLS was called (__sls__, __env__), and the arguments. With errors, of
// requisites, the chunks are of no use. The chunks are the caller's; the values in them are shared with high.
//
// Without an order of its own a chunk comes after those with a smaller one, and by its name then.
func Compile(data *payload.Map, opt Options) (chunks []*payload.Map, errs []string) {
	steps, errs := Order(data, opt)
	for _, s := range steps {
		chunks = append(chunks, s.Chunk)
	}
	return chunks, errs
}

// Order is Compile with what each chunk waits for.
func Order(data *payload.Map, opt Options) (steps []*Step, errs []string) {
	g, chunks := opt.graph(data)
	sorted, errs := g.order(chunks, opt.Watches)
	return g.steps(sorted, opt.Aggregates), errs
}

// graph makes the chunks, and the graph that holds them without edges.
func (opt Options) graph(data *payload.Map) (*graph, []*payload.Map) {
	var chunks []*payload.Map
	g := newGraph(opt.Disabled)
	for id, v := range data.All() {
		body, isMap := v.(*payload.Map)
		name, isText := id.(string)
		if !isText || !isMap || high.Own(id) {
			continue
		}
		for state, run := range body.All() {
			if module, ok := state.(string); ok && !high.Own(state) {
				args, _ := run.([]any)
				chunks = append(chunks, opt.chunksOf(name, module, body, args)...)
			}
		}
	}
	if opt.Allowed != nil {
		chunks = slices.DeleteFunc(chunks, func(chunk *payload.Map) bool { return !opt.Allowed(chunk) })
	}
	for _, chunk := range chunks {
		g.add(chunk)
	}
	return g, chunks
}

// order connects the chunks by their requisites and sorts them.
func (g *graph) order(chunks []*payload.Map, watches func(module string) bool) (out []*node, errs []string) {
	limit := int64(1)
	for _, chunk := range chunks {
		if watches != nil && !watches(chunk.Str("state")) {
			become(chunk, "watch", "require")
			become(chunk, "watch_any", "require_any")
		}
		err := g.require(chunk)
		if err != "" {
			errs = append(errs, err)
			continue
		}
		if order, ok := integer(chunk.Value("order")); ok && order > limit-1 && order > 0 {
			limit = order + 100
		}
	}
	sorted, ok := g.sort(float64(limit))
	if !ok {
		return nil, append(errs, "Recursive requisites were found: "+g.cycle())
	}
	return sorted, errs
}

// become makes one kind of requisite of another.
func become(chunk *payload.Map, from, to string) {
	if !chunk.Has(from) {
		return
	}
	chunk.Set(to, slices.Concat(chunk.List(to), chunk.List(from)))
	chunk.Delete(from)
}

// chunksOf are the calls of one module in the body of an ID: one, or one for each of its names.
func (opt Options) chunksOf(id, state string, body *payload.Map, args []any) []*payload.Map {
	chunk := payload.M("state", state, "name", id)
	for _, key := range []string{high.SLSKey, high.EnvKey, high.IncludedKey} {
		if v, ok := body.Get(key); ok {
			chunk.Set(key, v)
		}
	}
	chunk.Set("__id__", id)
	fun, names := "", []any{}
	for _, arg := range args {
		switch arg := arg.(type) {
		case string:
			fun = arg
		case *payload.Map:
			names = opt.takeArgument(chunk, id, arg, names)
		}
	}
	if fun == "" {
		return nil
	}
	if len(names) == 0 {
		return []*payload.Map{chunk.Set("fun", fun)}
	}
	var out []*payload.Map
	for i, name := range names {
		live := chunk.Clone()
		if own, ok := name.(*payload.Map); ok && own.Len() > 0 {
			name = own.Keys()[0]
			live.Set("name", name)
			list, _ := own.Value(name).([]any)
			for _, more := range list {
				if m, ok := more.(*payload.Map); ok {
					live.Update(m)
				}
			}
		} else {
			live.Set("name", name)
		}
		out = append(out, live.Set("name_order", int64(i+1)).Set("fun", fun))
	}
	return out
}

// takeArgument takes a map of arguments over, but for names, which are gathered. Beside another key names stays an
// argument of a reaction, too, as with Salt.
func (opt Options) takeArgument(chunk *payload.Map, id string, arg *payload.Map, names []any) []any {
	for key, v := range arg.All() {
		switch {
		case key == any("names"):
			names = withNames(names, v)
		case opt.AsReactions:
			chunk.Update(arg)
		case key == any("state"):
		default:
			if _, isText := v.(string); !isText && key == any("name") {
				v = id
			}
			chunk.Set(key, v)
		}
	}
	return names
}

// withNames adds the names of a list, each once.
func withNames(names []any, more any) []any {
	list, _ := more.([]any)
	for _, name := range list {
		if !slices.ContainsFunc(names, func(known any) bool { return payload.Equal(known, name) }) {
			names = append(names, name)
		}
	}
	return names
}

// Tag is the key of a chunk in the returns of a run: STATE_|-ID_|-NAME_|-FUN.
func Tag(chunk *payload.Map) string {
	return strings.Join([]string{python.Str(chunk.Value("state")), python.Str(chunk.Value("__id__")),
		python.Str(chunk.Value("name")), python.Str(chunk.Value("fun"))}, "_|-")
}

// integer is a whole number, as which Python counts a truth value, too.
func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}
