package elasticsearch_return

import (
	"strconv"
	"strings"
	"time"

	"brine/modules/returners"
	"brine/modules/returners/options"
	"brine/wire/payload"
	"brine/wire/python"
)

// document makes the index and the document of a return. Source: salt/returners/elasticsearch_return.py,
// returner.
func document(opt options.Values, ret *payload.Map, now time.Time) (string, *payload.Map) {
	fun := returners.Word(ret, "fun")
	states := fun == "state.apply" || fun == "state.highstate" || fun == "state.sls"
	index := "salt-" + strings.ReplaceAll(fun, ".", "_")
	if states && python.Truth(opt["states_single_index"]) {
		index = "salt-state_apply"
	}
	index = dated(opt, index, now)
	value, counts := ret.Value("return"), payload.NewMap(0)
	if states {
		run, isRun := value.(*payload.Map)
		switch {
		case isRun && python.Truth(opt["states_order_output"]):
			index += "-ordered"
			run = ordered(run)
		case !isRun:
			run = payload.M("return", value)
		}
		if value = run; python.Truth(opt["states_count"]) {
			counts = counted(run)
		}
	}
	var retcode any = int64(1)
	if v, ok := ret.Get("retcode"); ok {
		retcode = v
	}
	return index, payload.M("@timestamp", now.UTC().Format("2006-01-02T15:04:05.000000-07:00"), "success",
		!python.Truth(retcode), "retcode", retcode, "minion", ret.Value("id"), "fun", ret.Value("fun"), "jid",
		ret.Value("jid"), "counts", counts, "data", counters(value))
}

// ordered puts the number of each state before its tag, and its function into it.
func ordered(run *payload.Map) *payload.Map {
	width := len(strconv.Itoa(run.Len()))
	out := payload.NewMap(run.Len())
	for k, v := range run.All() {
		tag, _ := k.(string)
		state, ok := v.(*payload.Map)
		if !ok || tag == "" || tag[0] >= '0' && tag[0] <= '9' {
			out.Set(k, v)
			continue
		}
		parts := strings.Split(tag, "_|-")
		number := returners.Word(state, "__run_num__")
		number = strings.Repeat("0", max(0, width-len(number))) + number
		out.Set(number+"_|-"+tag, state.Clone().Set("_func", parts[0]+"."+parts[len(parts)-1]))
	}
	return out
}

// counted counts the states that failed, and those that did not.
func counted(run *payload.Map) *payload.Map {
	var succeeded, failed int64
	for _, v := range run.All() {
		if state, ok := v.(*payload.Map); ok && state.Value("result") == false {
			failed++
		} else if ok {
			succeeded++
		}
	}
	return payload.M("succeeded", succeeded, "failed", failed)
}

// counters writes keys without dots, which Elasticsearch takes for paths.
func counters(v any) any {
	switch x := v.(type) {
	case *payload.Map:
		out := payload.NewMap(x.Len())
		for k, v := range x.All() {
			if name, ok := k.(string); ok && strings.Contains(name, ".") {
				out.Set("_orig_key", name)
				k = strings.ReplaceAll(name, ".", "_")
			}
			out.Set(k, counters(v))
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = counters(x[i])
		}
		return out
	}
	return v
}
