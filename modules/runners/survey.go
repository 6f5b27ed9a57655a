package runners

import (
	"slices"
	"sort"

	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

func (r *runner) surveyFuncs() []loader.Func {
	return []loader.Func{
		{Name: "survey.hash", Source: "salt/runners/survey.py", VarArgs: true, KWArgs: true, Run: r.surveyHash,
			Doc: "Group minions by what they return; survey_sort=up puts the smallest group first.\n\nCLI Example:\n\n    salt-run survey.hash '*' test.ping"},
		{Name: "error.error", Source: "salt/runners/error.py", Run: raise,
			Params: []loader.Param{loader.Opt("name", nil), loader.Opt("message", "")},
			Doc:    "Raise an exception by its name; without one return an empty map.\n\nCLI Example:\n\n    salt-run error.error name='Exception' message='This is an error.'"},
	}
}

// pool is the minions that returned the same text.
type pool struct {
	ids    []string
	result string
}

// surveyHash takes a compound target (or pcre with tgt_type), a function and its arguments.
func (r *runner) surveyHash(c *loader.Call, a loader.Args) (any, error) {
	const wanted = 2
	if len(a.Rest) < wanted {
		return nil, loader.Raise("IndexError", "tuple index out of range")
	}
	kw := a.UserKW()
	upwards := kw.Str("survey_sort") == "up"
	tgtType := kw.Str("tgt_type")
	if tgtType != "pcre" {
		tgtType = "compound"
	}
	kw.Delete("survey_sort")
	kw.Delete("tgt_type")
	got, err := r.collect(c, Job{Tgt: a.Rest[0], TgtType: tgtType, Fun: pytext.Str(a.Rest[1]), Args: a.Rest[wanted:], KW: kw})
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
func poolsOf(got *Collected) []*pool {
	ids := slices.Clone(got.Minions)
	for id := range got.Returns.All() {
		ids = append(ids, pytext.Str(id))
	}
	sort.Strings(ids)
	var pools []*pool
	byText := map[string]*pool{}
	for _, id := range slices.Compact(ids) {
		text := "False"
		if ret, ok := got.Returns.Value(id).(*payload.Map); ok {
			text = pytext.Str(ret.Value("return"))
		}
		if byText[text] == nil {
			byText[text] = &pool{result: text}
			pools = append(pools, byText[text])
		}
		byText[text].ids = append(byText[text].ids, id)
	}
	return pools
}

func raise(_ *loader.Call, a loader.Args) (any, error) {
	if a.Get("name") == nil {
		return payload.NewMap(0), nil
	}
	return nil, loader.Raise(a.Str("name"), "%s", a.Str("message"))
}
