package outputters

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"brine/modules/text/pattern"
	"brine/wire/payload"
)

const (
	compressedMark    = "state_compressed_"
	compressedChanges = "compressed changes"
)

var countAtEnd = pattern.New(`\((\d+)\)$`)

// compressedCount reads the "(3)" at the end of a compressed id.
func compressedCount(id string) int {
	if m := countAtEnd.FindStringSubmatch(id); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return n
		}
	}
	return 1
}

// compressHosts rolls the states of one id, sls and result into one, for every host. Data that has not the parts
// for it is returned as it is.
func compressHosts(hosts *payload.Map) *payload.Map {
	out := payload.NewMap(hosts.Len())
	for host, v := range hosts.All() {
		states, ok := v.(*payload.Map)
		if !ok {
			return hosts
		}
		rolled, ok := compressIDs(states)
		if !ok {
			return hosts
		}
		out.Set(host, rolled)
	}
	return out
}

func compressIDs(states *payload.Map) (*payload.Map, bool) {
	counts := map[string]int{}
	for k, v := range states.All() {
		key, ok := compressKey(k, v)
		if !ok {
			return nil, false
		}
		counts[key]++
	}
	out := payload.NewMap(states.Len())
	for k, v := range states.All() {
		key, _ := compressKey(k, v)
		ret, _ := v.(*payload.Map)
		if counts[key] == 1 {
			out.Set(k, ret)
			continue
		}
		parts := strings.Split(str(k), stateSep)
		parts[2] = compressedMark + str(ret.Value("__sls__")) + "_" + str(ret.Value("__id__")) + "_" +
			str(ret.Value("result"))
		parts[1] = fmt.Sprintf("%s (%d)", str(ret.Value("__id__")), counts[key])
		name := strings.Join(parts, stateSep)
		first := out.Map(name)
		if first == nil {
			out.Set(name, ret.Clone())
		} else if !mergeState(first, ret) {
			return nil, false
		}
	}
	return out, true
}

func compressKey(k, v any) (string, bool) {
	name, isText := k.(string)
	ret, isMap := v.(*payload.Map)
	if !isText || !isMap || !ret.Has("__id__") || !ret.Has("__sls__") || !ret.Has("result") ||
		strings.Count(name, stateSep) < 3 {
		return "", false
	}
	module, _, _ := strings.Cut(name, stateSep)
	return strings.Join([]string{module, str(ret.Value("__id__")), str(ret.Value("__sls__")),
		str(ret.Value("result"))}, "_"), true
}

// mergeState adds a state to the compressed one: lowest run number, summed duration, earliest start. It is false
// when a part is missing or of the wrong type.
func mergeState(into, ret *payload.Map) bool {
	a, okA := into.Int("__run_num__")
	b, okB := ret.Int("__run_num__")
	timed := into.Has("start_time") && ret.Has("start_time") &&
		kind(into.Value("duration")) == numberKey && kind(ret.Value("duration")) == numberKey
	if !okA || !okB || !timed {
		return false
	}
	into.Set("__run_num__", min(a, b))
	const milli = 1000
	sum := number(into.Value("duration")) + number(ret.Value("duration"))
	into.Set("duration", math.Round(sum*milli)/milli)
	if cmp.Less(str(ret.Value("start_time")), str(into.Value("start_time"))) {
		into.Set("start_time", ret.Value("start_time"))
	}
	changes := ret.Map("changes")
	if changes.Len() == 0 {
		return true
	}
	rolled := into.Map("changes").Map(compressedChanges).Clone()
	if into.Map("changes").Len() > 0 && rolled.Len() == 0 {
		rolled.Set(str(into.Value("name")), into.Map("changes"))
	}
	rolled.Set(str(ret.Value("name")), changes)
	into.Set("changes", payload.M(compressedChanges, rolled))
	return true
}
