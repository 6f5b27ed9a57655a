package execution

import (
	"log/slog"
	"strings"

	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/text/dicts"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// elseKey is the last row of the table of match.ifelse; like each of them it is a target, too.
const (
	elseKey = "SALT_IFELSE_FUNCTION_DEFAULT"
	noneKey = "SALT_IFELSE_MATCH_NOTHING"
)

// matchKinds are the functions that say whether a target means this minion, by their names in Python, which filter_by wants.
// second is what a second argument means.
var matchKinds = map[string]struct{ kind, second string }{
	"compound": {"compound", "minion_id"}, "glob": {"glob", "minion_id"}, "pcre": {"pcre", "minion_id"}, "list_": {"list", "minion_id"},
	"grain": {"grain", "delimiter"}, "grain_pcre": {"grain_pcre", "delimiter"}, "pillar": {"pillar", "delimiter"},
	"pillar_pcre": {"pillar_pcre", "delimiter"}, "ipcidr": {"ipcidr", ""}, "data": {"data", ""},
}

func matchFunctions() []loader.Func {
	var out []loader.Func
	for name, k := range matchKinds {
		f := loader.Func{Name: "match." + k.kind, Params: []loader.Param{loader.Req("tgt")},
			Doc: "Tell whether a target of the kind " + k.kind + " means this minion.\n\nCLI Example:\n\n    salt '*' match." + k.kind + " TARGET"}
		switch k.second {
		case "minion_id":
			f.Params = append(f.Params, loader.Opt("minion_id", nil))
		case "delimiter":
			f.Params = append(f.Params, loader.Opt("delimiter", ":"))
		}
		if name != k.kind {
			f.PyName = name
		}
		f.Run = func(c *loader.Call, a loader.Args) (any, error) {
			if k.second == "" {
				return means(c, name, a.Get("tgt"), nil), nil
			}
			return means(c, name, a.Get("tgt"), a.Get(k.second)), nil
		}
		out = append(out, f)
	}
	table := []loader.Param{loader.Req("lookup"), loader.Opt("tgt_type", "compound"), loader.Opt("minion_id", nil)}
	merge := []loader.Param{loader.Opt("merge", nil), loader.Opt("merge_lists", false)}
	return sourced("salt/modules/match.py", append(out,
		loader.Func{Name: "match.filter_by", Params: append(append(table[:3:3], merge...), loader.Opt("default", "default")), Run: matchFilterBy,
			Doc: "Give the first row of a table whose key is a target that means this minion.\n\nCLI Example:\n\n    salt '*' match.filter_by '{web*: app, db*: data}'"},
		loader.Func{Name: "match.search_by", Params: table, Run: matchSearchBy,
			Doc: "Give the keys of a table for each target below them that means this minion.\n\nCLI Example:\n\n    salt '*' match.search_by '{web: [node1, node2], db: [node2]}'"},
		loader.Func{Name: "match.ifelse", VarArgs: true, ByName: true, Params: append(table[1:3:3], merge...), Run: matchIfElse,
			Doc: "Take targets and values in turn, and a last value: give that behind the first target that means this minion, else the last.\n\nCLI Example:\n\n    salt '*' match.ifelse 'web*' app 'db*' data none"}))
}

// means tells whether a target means the minion. What is wrong with it is logged, and then it does not.
func means(c *loader.Call, name string, tgt, second any) bool {
	how := matchKinds[name]
	facts := &matchers.Facts{ID: c.ID, Grains: c.Grains, Pillar: c.Pillar, Nodegroups: c.Opts().Map("nodegroups"),
		Data: func(key string) any { return openDatastore(c).get(key) }}
	delimiter := ""
	switch id := pytext.Str(second); {
	case how.second == "minion_id" && second != nil && id != "":
		facts.ID = id
	case how.second == "delimiter":
		delimiter = id
		if text, ok := tgt.(string); name == "pillar_pcre" && ok { // a publication gives it no delimiter
			s, ok := matchers.CompileSubdict(text, delimiter, matchers.ModeRegexp)
			return ok && s.Match(c.Pillar())
		}
	}
	hit, err := matchers.Match(tgt, how.kind, delimiter, facts)
	if err != nil {
		c.Host().Log.Log(slog.LevelError, err.Error())
	}
	return hit
}

// matcherOf is the matcher of a tgt_type. Like Salt's it takes minion_id for its second argument, whatever that means there.
func matcherOf(c *loader.Call, a loader.Args) (func(tgt any) (bool, error), error) {
	kind, id := a.Str("tgt_type"), a.Get("minion_id")
	how, ok := matchKinds[kind]
	if !ok {
		return nil, loader.Raise("KeyError", "%s", pytext.Repr(a.Get("tgt_type")))
	}
	return func(tgt any) (bool, error) {
		switch {
		case !loader.Truthy(id) && how.second == "delimiter":
			return means(c, kind, tgt, ":"), nil
		case !loader.Truthy(id):
			return means(c, kind, tgt, nil), nil
		case how.second == "":
			return false, loader.Raise("TypeError", "%s() takes 1 positional argument but 2 were given", kind)
		}
		return means(c, kind, tgt, id), nil
	}, nil
}

func matchFilterBy(c *loader.Call, a loader.Args) (any, error) {
	lookup, ok := a.Get("lookup").(*payload.Map)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'get'", pytext.Type(a.Get("lookup")))
	}
	return filterBy(c, a, lookup, a.Get("default"))
}

func filterBy(c *loader.Call, a loader.Args, lookup *payload.Map, otherwise any) (any, error) {
	hits, err := matcherOf(c, a)
	if err != nil {
		return nil, err
	}
	for key, row := range lookup.All() {
		if hit, err := hits(key); err != nil {
			return nil, err
		} else if !hit {
			continue
		}
		if !a.Bool("merge") {
			return row, nil
		}
		merge, ok := a.Get("merge").(*payload.Map)
		if !ok {
			return nil, loader.Raise("salt.exceptions.SaltException", "filter_by merge argument must be a dictionary.")
		}
		if row == nil {
			return merge, nil
		}
		into, ok := row.(*payload.Map)
		if !ok {
			return nil, loader.Raise("TypeError", "Cannot update using non-dict types in dictupdate.update()")
		}
		dicts.Update(into, dicts.Clone(merge).(*payload.Map), a.Bool("merge_lists"))
		return into, nil
	}
	value, _ := lookup.Get(otherwise)
	return value, nil
}

func matchSearchBy(c *loader.Call, a loader.Args) (any, error) {
	lookup, ok := a.Get("lookup").(*payload.Map)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'items'", pytext.Type(a.Get("lookup")))
	}
	hits, err := matcherOf(c, a)
	if err != nil {
		return nil, err
	}
	var found []any
	for key, row := range lookup.All() {
		targets, ok := row.([]any)
		if text, isText := row.(string); isText { // Python goes through its letters
			targets, ok = letters(text), true
		}
		if m, isMap := row.(*payload.Map); isMap {
			for k := range m.All() {
				targets = append(targets, k)
			}
			ok = true
		}
		if !ok {
			return nil, loader.Raise("TypeError", "'%s' object is not iterable", pytext.Type(row))
		}
		for _, tgt := range targets {
			if hit, err := hits(tgt); err != nil {
				return nil, err
			} else if hit {
				found = append(found, key)
			}
		}
	}
	if found == nil {
		return nil, nil
	}
	return found, nil
}

func letters(text string) (out []any) {
	for _, s := range strings.Split(text, "") {
		out = append(out, s)
	}
	return out
}

func matchIfElse(c *loader.Call, a loader.Args) (any, error) {
	n := len(a.Rest)
	switch {
	case n%2 == 0:
		return nil, loader.Raise("salt.exceptions.SaltException", "The ifelse function must have an odd number of arguments!")
	case n == 1:
		return a.Rest[0], nil
	}
	lookup := payload.NewMap(n/2 + 1)
	for i := 0; i < n-1; i += 2 {
		key := a.Rest[i]
		switch key := key.(type) {
		case []any, *payload.Map:
			return nil, loader.Raise("TypeError", "unhashable type: '%s'", pytext.Type(key))
		}
		switch key {
		case true:
			key = "*"
		case false:
			key = noneKey
		}
		lookup.Set(key, a.Rest[i+1])
	}
	return filterBy(c, a, lookup.Set(elseKey, a.Rest[n-1]), elseKey)
}
