package master

import (
	"slices"
	"testing"

	"brine/wire/control"
	"brine/wire/payload"
)

// TestAnswersOfTheControlSocket: what trace and why make is what wire/control says that it is, field by field, and
// tools read it.
func TestAnswersOfTheControlSocket(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	r.accept("m2", "minion")
	jid := r.publish(payload.M("tgt", "m1,m2,nobody", "tgt_type", "list"))
	m.ask(ret("m1", jid))
	r.awaitHop(jid, "store", "m1")
	traced, err := r.m.Trace(testContext(t), jid, "")
	if err != nil {
		t.Fatal(err)
	}
	trace := control.Read[control.Trace](traced)
	if trace.JID != jid || trace.Fun != "test.ping" || trace.Minions == nil || *trace.Minions != 2 ||
		trace.Began == 0 ||
		!slices.ContainsFunc(trace.Hops, func(h control.Hop) bool {
			return h.Hop == "store" && h.Minion == "m1" && h.AfterUS != nil
		}) {
		t.Errorf("trace: %+v", trace)
	}
	trace.Raw = nil
	sameFields(t, "trace", traced, control.Encode(trace))
	reasons, err := r.m.Why(testContext(t), jid)
	if err != nil {
		t.Fatal(err)
	}
	why := control.Read[control.Reasons](reasons)
	if len(why.Reasons) == 0 || why.Reasons[0].Text == "" || why.Reasons[0].Code == "" ||
		why.Reasons[0].Facts.Len() == 0 {
		t.Errorf("reasons: %+v", why)
	}
	why.Raw = nil
	sameFields(t, "why", reasons, control.Encode(why))
}

// sameFields holds what was read and packed again against what was made: no field is missing that a struct names, and
// none has another value. What is made may hold more.
func sameFields(t *testing.T, what string, made, read any) {
	t.Helper()
	switch read := read.(type) {
	case *payload.Map:
		m, _ := made.(*payload.Map)
		for k, v := range read.All() {
			if !m.Has(k) {
				t.Errorf("%s: %v is not made", what, k)
			}
			one, _ := m.Get(k)
			sameFields(t, what+"."+k.(string), one, v)
		}
	case []any:
		list, _ := made.([]any)
		if len(list) != len(read) {
			t.Errorf("%s: %d were made, %d read", what, len(list), len(read))
			return
		}
		for i := range list {
			sameFields(t, what, list[i], read[i])
		}
	default:
		if !payload.M("x", made).Equal(payload.M("x", read)) {
			t.Errorf("%s: %v was made, %v read", what, made, read)
		}
	}
}
