package steps

import (
	"slices"
	"strings"

	"brine/modules/states/run/low"
	"brine/wire/payload"
	"brine/wire/python"
)

// Verdicts on a step whose requisites have their returns.
const (
	unmet     = "unmet"
	failed    = "fail"
	skipReq   = "skip_req"
	skipWatch = "skip_watch"
	pre       = "pre"
	onfail    = "onfail"
	onchanges = "onchanges"
	change    = "change"
	met       = "met"
)

// verdict looks at what a step waited for. Source: State._check_requisites.
func (r *Run) verdict(s *low.Step) string {
	all := map[string]bool{}
	for _, kind := range kindsOf(s.Needs) {
		for stat := range r.stats(s, kind) {
			all[stat] = true
		}
	}
	switch {
	case all[unmet]:
		return unmet
	case all[failed]:
		return failed
	case all[skipReq] && (all["onchangesmet"] || all["premet"]):
		return skipReq
	case all[skipReq] && all[change]:
		return skipWatch
	case all[pre]:
		if all["premet"] {
			return met
		}
		return pre
	case all[onfail] && !all["onchangesmet"]:
		return onfail
	case all[onchanges] && !all["onchangesmet"]:
		return onchanges
	case all[change]:
		return change
	case all[onfail]:
		return onfail
	}
	return met
}

// kindsOf are the kinds of requisites of a step, in the order of their first ones.
func kindsOf(needs []low.Need) (out []string) {
	for _, need := range needs {
		if !slices.Contains(out, need.Kind) {
			out = append(out, need.Kind)
		}
	}
	return out
}

// stats are what the targets of one kind of requisite say.
func (r *Run) stats(s *low.Step, kind string) map[string]bool {
	base := strings.TrimSuffix(strings.TrimSuffix(kind, "_any"), "_all")
	out := map[string]bool{}
	for _, need := range s.Needs {
		if need.Kind != kind {
			continue
		}
		ret := r.results.Map(low.Tag(need.Chunk))
		if base == "prereq" {
			ret = r.tested[low.Tag(need.Chunk)]
		}
		stat(base, ret, out)
	}
	if strings.HasSuffix(kind, "_any") || kind == "onfail" {
		if out[met] || out[change] {
			delete(out, failed)
		}
		if out["onchangesmet"] {
			delete(out, onchanges)
			delete(out, failed)
		}
		if out[onfail] && out[met] {
			delete(out, onfail)
		}
	}
	if strings.HasSuffix(kind, "_all") && out[onfail] {
		delete(out, met)
	}
	return out
}

// stat is what one target says.
func stat(base string, ret *payload.Map, out map[string]bool) {
	if ret == nil {
		out[unmet] = true
		return
	}
	if python.Truth(ret.Value("skip_req")) {
		out[skipReq] = true
	}
	result, changed := ret.Value("result"), ret.Map("changes").Len() > 0
	switch base {
	case "onfail":
		if result == true {
			out[onfail] = true
			return
		}
	case "onchanges":
		if result == false || !changed {
			out[onchanges] = true
		} else {
			out["onchangesmet"] = true
		}
		return
	default:
		if result == false {
			out[failed] = true
			return
		}
	}
	switch {
	case base == "watch" && changed:
		out[change] = true
	case base == "prereq" && result == nil:
		out["premet"] = true
	case base == "prereq":
		out[pre] = true
	case ret.Value("__state_ran__") != false:
		out[met] = true
	}
}

// failures names the requisites of a step that failed, as SLS.ID.
func (r *Run) failures(s *low.Step) string {
	var out []string
	for _, kind := range kindsOf(s.Needs) {
		for _, need := range s.Needs {
			if need.Kind != kind {
				continue
			}
			ret := r.tested[low.Tag(need.Chunk)]
			if ret == nil {
				ret = r.results.Map(low.Tag(need.Chunk))
			}
			name := python.Str(need.Chunk.Value("__sls__")) + "." + python.Str(need.Chunk.Value("__id__"))
			if ret != nil && ret.Value("result") == false && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return strings.Join(out, ", ")
}

// watched are the requisites of a step by kind, as its mod_watch gets them (__reqs__).
func watched(s *low.Step) *payload.Map {
	out := payload.NewMap(1)
	for _, need := range s.Needs {
		out.Set(need.Kind, append(out.List(need.Kind), any(need.Chunk)))
	}
	return out
}
