package run

import "brine/wire/payload"

// Succeeded tells whether the results of states, or whatever is shown in their place, hold no failure. None at all are
// one. Source: salt/utils/state.py, check_result.
func Succeeded(results any) bool { return succeeded(results, false) }

// succeeded is Succeeded; inner says that the map is not the outermost one.
func succeeded(results any, inner bool) bool {
	m, ok := results.(*payload.Map)
	if !ok || m.Len() == 0 {
		return false
	}
	for id, v := range m.All() {
		state, isMap := v.(*payload.Map)
		if !inner && !isMap && id != any("__extend__") {
			return false
		}
		if !isMap {
			continue
		}
		result, has := state.Get("result")
		if has && result == false || !has && !succeeded(state, true) {
			return false
		}
	}
	return true
}
