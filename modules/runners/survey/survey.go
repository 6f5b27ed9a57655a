// Package survey is the runner module survey: it groups minions by what they return. Answers to salt/runners/survey.py.
package survey

import (
	"slices"
	"sort"

	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module survey.
func Module(o runners.Options) loader.Module {
	m := &master{o}
	return loader.Module{File: "survey", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("hash", m.hash,
				"Group minions by what they return; survey_sort=up puts the smallest group first.",
				"salt-run survey.hash '*' test.ping"),
		}
	}}
}

type master struct{ runners.Options }

// pool is the minions that returned the same text.
type pool struct {
	ids    []string
	result string
}

type question struct {
	Args []any        `arg:"*args"`
	KW   *payload.Map `arg:"**kwargs"`
}

// hash takes a compound target (or pcre with tgt_type), a function and its arguments.
func (m *master) hash(c *loader.Call, a question) ([]any, error) {
	const wanted = 2
	if len(a.Args) < wanted {
		return nil, loader.Raise("IndexError", "tuple index out of range")
	}
	kw := loader.CleanKWArgs(a.KW)
	upwards := kw.Str("survey_sort") == "up"
	tgtType := kw.Str("tgt_type")
	if tgtType != "pcre" {
		tgtType = "compound"
	}
	kw.Delete("survey_sort")
	kw.Delete("tgt_type")
	got, err := m.Collect(c, runners.Job{Tgt: a.Args[0], TgtType: tgtType, Fun: python.Str(a.Args[1]),
		Args: a.Args[wanted:], KW: kw})
	if err != nil {
		return nil, err
	}
	pools := poolsOf(got)
	slices.SortStableFunc(pools, func(x, y *pool) int {
		if upwards {
			return len(x.ids) - len(y.ids)
		}
		return len(y.ids) - len(x.ids)
	})
	out := make([]any, len(pools))
	for i, p := range pools {
		out[i] = payload.M("pool", payload.AnyList(p.ids), "result", p.result)
	}
	return out, nil
}

// poolsOf groups ids by the text of their return; those without one returned False.
func poolsOf(got *runners.Collected) []*pool {
	ids := slices.Clone(got.Minions)
	for id := range got.Returns.All() {
		ids = append(ids, python.Str(id))
	}
	sort.Strings(ids)
	var pools []*pool
	byText := map[string]*pool{}
	for _, id := range slices.Compact(ids) {
		text := "False"
		if ret, ok := got.Returns.Value(id).(*payload.Map); ok {
			text = python.Str(ret.Value("return"))
		}
		if byText[text] == nil {
			byText[text] = &pool{result: text}
			pools = append(pools, byText[text])
		}
		byText[text].ids = append(byText[text].ids, id)
	}
	return pools
}
