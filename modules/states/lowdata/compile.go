package lowdata

import (
	"slices"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// Compile turns high data that Verify has nothing against into chunks in their order. A chunk holds state (the module),
// fun, name, __id__, order, what the SLS was called (__sls__, __env__), and the arguments. With errors, of requisites,
// the chunks are of no use. The chunks are the caller's; the values in them are shared with high.
//
// Without an order of its own a chunk comes after those with a smaller one, and by its name then.
func Compile(high *payload.Map) (chunks []*payload.Map, errs []string) {
	g := newGraph()
	for key, v := range high.All() {
		id, isText := key.(string)
		body, isMap := v.(*payload.Map)
		if !isText || !isMap || strings.HasPrefix(id, "__") {
			continue
		}
		for state, run := range body.All() {
			if name, ok := state.(string); ok && !strings.HasPrefix(name, "__") {
				args, _ := run.([]any)
				chunks = append(chunks, chunksOf(id, name, body, args)...)
			}
		}
	}
	for _, chunk := range chunks {
		g.add(chunk)
	}
	limit := int64(1)
	for _, chunk := range chunks {
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

// chunksOf are the calls of one module in the body of an ID: one, or one for each of its names.
func chunksOf(id, state string, body *payload.Map, args []any) []*payload.Map {
	chunk := payload.M("state", state, "name", id)
	for _, key := range []string{"__sls__", "__env__", "__sls_included_from__"} {
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
			names = takeArgument(chunk, arg, names)
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
// argument, too, as with Salt.
func takeArgument(chunk, arg *payload.Map, names []any) []any {
	for key, v := range arg.All() {
		if key != "names" {
			chunk.Update(arg)
			continue
		}
		list, _ := v.([]any)
		for _, name := range list {
			if !slices.ContainsFunc(names, func(known any) bool { return payload.Equal(known, name) }) {
				names = append(names, name)
			}
		}
	}
	return names
}

// tagOf tells chunks apart.
func tagOf(chunk *payload.Map) string {
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
