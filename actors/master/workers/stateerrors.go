package workers

import (
	"fmt"
	"slices"
	"strings"

	"brine/actors/master/access"
	"brine/modules/fleet/ledger"
	"brine/wire/event"
	"brine/wire/payload"
)

// stateFunctions are the functions whose failed states are fired one by one. Salt names only these two.
var stateFunctions = []string{"state.highstate", "state.sls"}

// maxStateErrors is how many failed states of one return are fired.
const maxStateErrors = 1000

// stateKeyMark separates the parts of a state's key: module, id, name, function.
const stateKeyMark = "_|-"

// fireStateErrors fires the two events of each failed state of a failed state run
// (salt/utils/event.py, fire_ret_load).
func (d *returnHandler) fireStateErrors(ret *payload.Return) {
	funs, several := ret.Fun().([]any)
	if !several {
		d.fireFailedStates(ret, ret.Function(), ret.Retcode(), ret.Value())
		return
	}
	for i, f := range funs {
		fun, _ := f.(string)
		d.fireFailedStates(ret, fun, partOf(ret.Retcode(), fun, i), partOf(ret.Value(), fun, i))
	}
}

// partOf is what belongs to one of several functions: by its name, or in a list by its place.
func partOf(all any, fun string, i int) any {
	switch all := all.(type) {
	case *payload.Map:
		return all.Value(fun)
	case []any:
		if i < len(all) {
			return all[i]
		}
	}
	return nil
}

func (d *returnHandler) fireFailedStates(ret *payload.Return, fun string, retcode, result any) {
	states, _ := result.(*payload.Map)
	if !slices.Contains(stateFunctions, fun) || retcode == nil || retcode == int64(0) || retcode == false {
		return
	}
	jid, id := ret.JID(), ret.ID()
	who, left := access.Speaker{ID: id}, maxStateErrors
	for k, v := range states.All() {
		key, _ := k.(string)
		state, _ := v.(*payload.Map)
		if key == "" || state.Value("result") != false {
			continue
		}
		if left--; left < 0 {
			d.admission.Deny(id, ledger.DeniedEvents, 1, fmt.Sprintf("more failed states in one return than are fired "+
				"one by one (%d)", maxStateErrors))
			return
		}
		parts := strings.Split(key, stateKeyMark)
		name := parts[0] + "." + parts[len(parts)-1]
		data := state.Clone().Set("retcode", retcode)
		for _, field := range access.Believed {
			data.Delete(field)
		}
		_, _ = d.admission.Say(who, name, data) // the name is the minion's word
		data.Set("jid", jid).Set("id", id).Set("success", false).Set("return", "Error: "+name).Set("fun", fun)
		ret.Pass(data, payload.FieldUser)
		d.events.Fire(event.TagJobSubError(jid, id, fun), data)
	}
}
