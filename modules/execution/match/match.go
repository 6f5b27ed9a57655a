// Package match is the execution module match: whether a target means this minion, and tables whose keys are targets.
// It answers to salt/modules/match.py.
package match

import (
	"log/slog"

	"brine/modules/host/datastore"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/wire/python"
)

// kind is a function that tells whether a target means this minion. second is what its second argument means.
type kind struct{ kind, second string }

// kinds are these functions by their names in Python, which filter_by wants.
var kinds = map[string]kind{
	"compound":    {"compound", "minion_id"},
	"glob":        {"glob", "minion_id"},
	"pcre":        {"pcre", "minion_id"},
	"list_":       {"list", "minion_id"},
	"grain":       {"grain", "delimiter"},
	"grain_pcre":  {"grain_pcre", "delimiter"},
	"pillar":      {"pillar", "delimiter"},
	"pillar_pcre": {"pillar_pcre", "delimiter"},
	"ipcidr":      {"ipcidr", ""},
	"data":        {"data", ""},
}

// Module is the module match.
func Module() loader.Module {
	return loader.Module{File: "match", Virtual: loader.Always, Funcs: func() []loader.Func {
		return append(tellers(),
			loader.Fn("filter_by", filterBy, "Give the first row of a table whose key is a target that means this "+
				"minion.",
				"match.filter_by '{web*: app, db*: data}'"),
			loader.Fn("search_by", searchBy, "Give the keys of a table for each target below them that means this "+
				"minion.",
				"match.search_by '{web: [node1, node2], db: [node2]}'"),
			loader.Fn("ifelse", ifElse, "Take targets and values in turn, and a last value: "+
				"give that behind the first target that means this minion, else the last.",
				"match.ifelse 'web*' app 'db*' data none"))
	}}
}

// tellers are the functions that tell whether a target means this minion.
func tellers() []loader.Func {
	var out []loader.Func
	for name, k := range kinds {
		out = append(out, tellerOf(name, k))
	}
	return out
}

// A target, and what may come with it.
type (
	target struct {
		Tgt any `arg:"tgt"`
	}
	ofMinion struct {
		target
		ID any `arg:"minion_id=None"`
	}
	ofDelimiter struct {
		target
		Delimiter any `arg:"delimiter=:"`
	}
)

func tellerOf(name string, k kind) loader.Func {
	doc, example := "Tell whether a target of the kind "+k.kind+" means this minion.", "match."+k.kind+" TARGET"
	tell := func(c *loader.Call, tgt, second any) (bool, error) { return means(c, name, tgt, second), nil }
	var f loader.Func
	switch k.second {
	case "minion_id":
		f = loader.Fn(k.kind, func(c *loader.Call, a ofMinion) (bool, error) {
			return tell(c, a.Tgt, a.ID)
		}, doc, example)
	case "delimiter":
		body := func(c *loader.Call, a ofDelimiter) (bool, error) { return tell(c, a.Tgt, a.Delimiter) }
		f = loader.Fn(k.kind, body, doc, example)
	default:
		f = loader.Fn(k.kind, func(c *loader.Call, a target) (bool, error) { return tell(c, a.Tgt, nil) }, doc, example)
	}
	if name != k.kind {
		f = f.Named(name)
	}
	return f
}

// means tells whether a target means the minion. What is wrong with it is logged, and then it does not.
func means(c *loader.Call, name string, tgt, second any) bool {
	how := kinds[name]
	facts := &matchers.Facts{ID: c.ID, Grains: c.Grains, Pillar: c.Pillar, Nodegroups: c.Opts().Map("nodegroups"),
		Data: func(key string) any { return datastore.In(c.Opts().Str("cachedir")).Get(key) }}
	delimiter := ""
	switch id := python.Str(second); {
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
