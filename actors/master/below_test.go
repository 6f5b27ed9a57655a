package master

import (
	"testing"

	"brine/modules/fleet/ledger"
	"brine/modules/matchers"
	"brine/wire/event"
	"brine/wire/payload"
)

// TestRulesBindWithSyndics: with order_masters too a rule with a target binds a job to the minions that were compared
// with it, whatever another one says of itself; what lives below a syndic is left to the target.
func TestRulesBindWithSyndics(t *testing.T) {
	r := newRig(t, "order_masters: true", "external_auth: {sharedsecret: {limited: [{'m*': [test.ping]}]}}",
		"sharedsecret: OpenSesame")
	for _, id := range []string{"m1", "unknown", "x1"} {
		r.accept(id, "minion")
	}
	for id, role := range map[string]string{"m1": "web", "x1": "db"} {
		if err := r.m.stores.cache.StoreGrains(id, payload.M("id", id, "role", role)); err != nil {
			t.Fatal(err)
		}
	}
	ear := r.hear()
	for _, tt := range []struct {
		tgt, tgtType, delimiter string
		refused                 bool
	}{
		{"role:web", "grain", "", false},
		{"role|web", "grain", "|", false},
		{"role:w.b", "grain_pcre", "", false},
		{"G@role:web", "compound", "", false},
		{"G@role:web and ( m* or G@role:web )", "compound", "", false},
		{"G@role:web ) or ( G@role:web", "compound", "", true},
		{"( G@role:web", "compound", "", true},
		{"role||web", "grain", "||", true},
		{"web", "nodegroup", "", true},
		{"m*", "glob", "", false},
	} {
		kw := payload.M("eauth", "sharedsecret", "username", "limited", "password", "OpenSesame")
		if tt.delimiter != "" {
			kw.Set("delimiter", tt.delimiter)
		}
		got := r.publishAs("limited", "test.ping", "", payload.M("tgt", tt.tgt, "tgt_type", tt.tgtType, "kwargs", kw))
		if got.Has("error") != tt.refused {
			t.Errorf("%s %q: %s", tt.tgtType, tt.tgt, text(got))
		}
		if tt.refused {
			continue
		}
		pub := ear.await(event.TagJobPublish(got.Map("load").Str("jid")))
		for id, want := range map[string]bool{"m1": true, "x1": false, "unknown": false, "m-below": true} {
			// as each of them would have it
			all := &matchers.Facts{ID: id, Grains: func() *payload.Map { return payload.M("role", "web") }}
			hit, err := matchers.Match(pub.Value("tgt"), pub.Str("tgt_type"), pub.Str("delimiter"), all)
			if err != nil || hit != want {
				t.Errorf("%s %q: %s runs it: %v, want %v (%v)", tt.tgtType, tt.tgt, id, hit, want, err)
			}
		}
	}
}

// TestResourcesBelowSyndics: what lives below a syndic is no minion's resource, whether it was registered before or
// after the syndic has spoken of it, and over a new start.
func TestResourcesBelowSyndics(t *testing.T) {
	r := newRig(t, "order_masters: true", "syndics: [syn]")
	syn, m := r.minion("syn"), r.minion("m1")
	below := func(id, jid string) *payload.Map {
		return cmd("_syndic_return", "load",
			[]any{payload.M("jid", jid, "return", payload.M(id, payload.M("return", true, "retcode", 0)))})
	}
	register := func(ids ...any) {
		equal(t, "register", m.ask(cmd("_register_resources", "resources", payload.M("x", ids))), true)
	}
	forge := func(id, jid string) any {
		return m.ask(ret("m1", jid, "resource_id", id))
	}
	register("early")
	equal(t, "of the syndic", syn.ask(below("early", "20260101000000000001")), nil)
	equal(t, "of the syndic", syn.ask(below("late", "20260101000000000001")), nil)
	register("early", "late", "own")
	for range 2 {
		jid := r.publish(payload.NewMap(0))
		for _, id := range []string{"early", "late", "own"} {
			forge(id, jid)
		}
		equal(t, "stored", r.stored(jid).Keys(), []any{"own"})
		if d := r.m.core.book.Peers.Get("m1").Denied; d == nil || d.N[ledger.DeniedReturn] < 2 {
			t.Errorf("refused: %+v", d)
		}
		r.stop()
		r.start()
		m = r.minion("m1")
	}
}
