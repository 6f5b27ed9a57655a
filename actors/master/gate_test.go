package master

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"brine/modules/fleet/ledger"
	"brine/modules/fleet/speakers"
	"brine/wire/auth"
	"brine/wire/event"
	"brine/wire/payload"
)

// onlyMasters are tags that no minion may fire.
var onlyMasters = []string{"salt/key", "salt/auth", "salt/run/1/ret", "salt/wheel/1/ret",
	"salt/job/" + someJID + "/ret/m2", "salt/job/" + someJID + "/new", "salt/job/" + someJID + "/error",
	"salt/event/exit", "salt/minion/m2/start", "salt/beacon/m2/load/", "salt/job/" + someJID + "/prog/m2/0",
	"salt/batch/" + someJID + "/halted", someJID, "key", "minion/refresh/m2", "syndic/m1/" + someJID,
	"syndic/x/salt/job/" + someJID + "/new",
	"brine/minion/refused", "salt//key", "/salt/auth", "x\ny",
	// tools search tags for these, wherever they stand
	someJID + "x/ret/m2", "x/salt/job/" + someJID + "/ret/m2", "xsalt/job/" + someJID,
	"salt/beacon/m1/salt/job/" + someJID + "/error",
	"salt/job/" + someJID + "/prog/m1/salt/job/" + someJID, "x/syndic/y/" + someJID + "/new",
	"salt/engines/syndic//" + someJID}

// TestMinionEventsForbidden: in none of the forms in which a minion sends events it fires what is not its own.
func TestMinionEventsForbidden(t *testing.T) {
	r := newRig(t, "order_masters: true")
	m := r.minion("m1")
	m.ask(ret("m1", someJID)) // a minion is what it is
	ear := r.hear()
	data := payload.M("id", "m2", "return", "forged", "error", "x", "minions", []any{"m2"}, "jid", someJID)
	for _, tag := range onlyMasters {
		first, rest, _ := strings.Cut(tag, "/")
		for _, load := range []*payload.Map{
			cmd("_minion_event", "tag", tag, "data", data),
			cmd("_minion_event", "events", []any{payload.M("tag", tag, "data", data)}),
			cmd("_minion_event", "events", []any{payload.M("tag", tag, "data", data)}, "pretag", ""),
			cmd("_minion_event", "events", []any{payload.M("tag", rest, "data", data)}, "pretag", first),
			cmd("_minion_event", "events", []any{data.Clone().Set("tag", tag)}),
		} {
			if rest == "" && load.Has("pretag") {
				continue
			}
			m.ask(load)
		}
	}
	r.m.Fire("test/end", payload.NewMap(0))
	for _, tag := range ear.until("test/end") {
		if tag != "brine/minion/refused" && slices.ContainsFunc(onlyMasters, func(bad string) bool {
			return strings.Trim(tag, "/") == strings.Trim(bad, "/")
		}) {
			t.Errorf("%q was fired", tag)
		}
	}
	if n := r.m.core.book.Peers.Get("m1").Denied; n == nil || n.N[ledger.DeniedTag] < 50 {
		t.Errorf("counted: %+v", n)
	}
}

// TestMinionEventsAllowed: what minions of Salt fire goes out, without the fields by which tools end.
func TestMinionEventsAllowed(t *testing.T) {
	r := newRig(t, "minion_event_whitelist: ['salt/custom/*']")
	m := r.minion("m1")
	ear := r.hear()
	for _, tag := range []string{"salt/minion/m1/start", "salt/job/" + someJID + "/prog/m1/3",
		"salt/job/" + someJID + "/start/m1", "salt/state_result/" + someJID + "/m1/x", "minion_start", "minion_ping",
		"_salt_error", "myco/x", "salt/custom/x", "salt/engines/hook/y"} {
		m.ask(cmd("_minion_event", "tag", tag, "data", payload.M("a", 1), "pretag", nil, "error", "x", "minions",
			[]any{"m2"}, "return", 1))
		got := ear.await(tag)
		if got.Str("id") != "m1" || got.Map("data") == nil {
			t.Errorf("%s: %v", tag, got)
		}
		if inJob := strings.HasPrefix(tag, "salt/job/"); got.Has("error") == inJob || got.Has("minions") == inJob ||
			got.Has("return") == inJob {
			t.Errorf("%s: %v", tag, got)
		}
	}
	m.ask(cmd("_minion_event", "events", []any{payload.M("tag", "salt/beacon/m1/load/", "data",
		payload.M("id", "m1", "1m", 0.5), "beacon_name", "load")}))
	ear.await("salt/beacon/m1/load/")
	m.ask(cmd("_minion_event", "events", []any{payload.M("tag", "state_True_True", "data", payload.M("result", true))}))
	ear.await("state_True_True")
}

// TestReturnFields: no field of a return ends a tool or names minions, and a job id is one part of a tag.
func TestReturnFields(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	ear := r.hear()
	m.ask(ret("m1", someJID, "error", "x", "minions", []any{"m2"}, "missing", []any{"m3"}, "syndic", "y"))
	data := ear.await("salt/job/" + someJID + "/ret/m1")
	for _, field := range []string{"error", "minions", "missing", "syndic"} {
		if data.Has(field) {
			t.Errorf("the event has %s", field)
		}
	}
	for _, jid := range []string{"x", "1", someJID + "x", someJID + "_", someJID + "_ret", someJID + "_1 2",
		someJID + "/new", someJID + "/ret/m2", "a\nb", strings.Repeat("9", 1000), ""} {
		equal(t, "answer", m.ask(ret("m1", jid)), nil)
	}
	r.m.Fire("test/end", payload.NewMap(0))
	if seen := ear.until("test/end"); len(seen) > 0 {
		t.Errorf("events %q", seen)
	}
}

// TestStateErrorTags: the names of states do not become tags of the master's.
func TestStateErrorTags(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	ear := r.hear()
	states := payload.NewMap(0)
	for _, tag := range onlyMasters {
		states.Set(tag+"_|-x_|-y_|-z", payload.M("result", false, "error", 1, "minions", []any{"m2"}))
	}
	m.ask(ret("m1", someJID, "fun", "state.sls", "return", states, "retcode", 2))
	r.m.Fire("test/end", payload.NewMap(0))
	for _, tag := range ear.until("test/end") {
		if strings.HasPrefix(tag, "salt/") && tag != "salt/job/"+someJID+"/ret/m1" &&
			!strings.HasPrefix(tag, "salt/job/"+someJID+"/sub/m1/error/") {
			t.Errorf("%q was fired", tag)
		}
	}
}

// TestReturnOfOthers: a minion answers for the resources that it has registered and for nobody else.
func TestReturnOfOthers(t *testing.T) {
	r := newRig(t)
	m1, m2 := r.minion("m1"), r.minion("m2")
	equal(t, "register", m1.ask(cmd("_register_resources", "resources", payload.M("ssh", []any{"r1", "m2"}))), true)
	equal(t, "register", m2.ask(cmd("_register_resources", "resources", payload.M("ssh", []any{"r1", "r2"}))), true)
	for _, tt := range []struct {
		m    *testMinion
		id   string
		want bool
	}{{m1, "r1", true}, {m1, "m2", false}, {m1, "r2", false}, {m1, "r3", false}, {m2, "r2", true}, {m2, "r1", false},
		{m2, "m2", true}} {
		jid := r.publish(payload.NewMap(0))
		equal(t, "answer", tt.m.ask(ret("", jid, "resource_id", tt.id)), nil)
		if got := r.stored(jid).Has(tt.id); got != tt.want {
			t.Errorf("%s returns for %s: stored %v", tt.m.id, tt.id, got)
		}
	}
	equal(t, "register", m1.ask(cmd("_register_resources", "resources", payload.NewMap(0))), true)
	equal(t, "register", m2.ask(cmd("_register_resources", "resources", payload.M("ssh", []any{"r1"}))), true)
	jid := r.publish(payload.NewMap(0))
	m2.ask(ret("", jid, "resource_id", "r1"))
	if !r.stored(jid).Has("r1") {
		t.Error("a resource that was given up has no new manager")
	}
	again := &speakers.Resources{Keys: r.keyStore(), Cache: r.m.stores.cache}
	if !again.Manages("m2", "r1") || again.Manages("m1", "r1") {
		t.Error("the disk says something else")
	}
}

// TestSyndics: who may speak as a syndic, and for whom.
func TestSyndics(t *testing.T) {
	one := func(id string) *payload.Map {
		return payload.M("jid", someJID, "fun", "test.ping", "load", payload.M("fun", "evil", "tgt", "*"), "return",
			payload.M(id, payload.M("return", true, "id", "m1", "jid", "x")))
	}
	send := func(m *testMinion, id string) any { return m.ask(cmd("_syndic_return", "load", []any{one(id)})) }
	t.Run("without order_masters", func(t *testing.T) {
		r := newRig(t)
		equal(t, "answer", send(r.minion("s1"), "below"), false)
		equal(t, "stored", r.stored(someJID).Len(), 0)
	})
	t.Run("the first word decides", func(t *testing.T) {
		r := newRig(t, "order_masters: true")
		r.minion("m1")
		m, s := r.minion("m2"), r.minion("s1")
		m.ask(ret("m2", someJID))
		s.ask(cmd("_minion_event", "tag", "salt/syndic/s1/start", "data", "x", "pretag", nil))
		equal(t, "a minion", send(m, "below"), false)
		equal(t, "a syndic", send(s, "below"), nil)
		equal(t, "for a minion of the master", send(s, "m1"), nil)
		r.eventually("returns in the store", func() error {
			if got := r.stored(someJID); !got.Has("below") || got.Has("m1") {
				return fmt.Errorf("got %v: %w", got, os.ErrNotExist)
			}
			return nil
		})
		r.accept("s1", "spare")
		if !r.m.core.admission.Voices.AsSyndic("s1") || r.m.core.admission.Voices.AsSyndic("m2") {
			t.Error("another key begins anew, the same does not")
		}
	})
	t.Run("the configuration decides", func(t *testing.T) {
		r := newRig(t, "order_masters: true", "syndics: ['s*']")
		equal(t, "a minion", send(r.minion("m2"), "below"), false)
		s := r.minion("s1")
		s.ask(ret("s1", someJID))
		equal(t, "a syndic", send(s, "below"), nil)
	})
	t.Run("signed", func(t *testing.T) {
		r := newRig(t, "order_masters: true", "require_minion_sign_messages: true")
		equal(t, "unsigned", send(r.minion("s1"), "below"), false)
		equal(t, "signed", send(r.minion("s2", func(o *auth.MinionOptions) { o.SignMessages = true }), "below"), nil)
	})
	t.Run("a job of the master is not rewritten", func(t *testing.T) {
		r := newRig(t, "order_masters: true")
		r.minion("m1")
		s := r.minion("s1")
		jid := r.publish(payload.M("tgt", "m1", "fun", "test.ping"))
		s.ask(cmd("_syndic_return", "load", []any{one("below").Set("jid", jid)}))
		s.ask(cmd("_minion_event", "pretag", "syndic/s1", "events",
			[]any{payload.M("tag", "x", "data", payload.M("jid", "20990101000000000000", "minions", []any{"m9"}))}))
		r.eventually("the return", func() error {
			if !r.stored(jid).Has("below") {
				return os.ErrNotExist
			}
			return nil
		})
		if load, err := r.m.stores.jobs.Load(jid); err != nil || load.Str("fun") != "test.ping" {
			t.Errorf("load %v, %v", load, err)
		}
		if load, _ := r.m.stores.jobs.Load("20990101000000000000"); load != nil {
			t.Errorf("a job was made: %v", load)
		}
	})
	t.Run("events", func(t *testing.T) {
		r := newRig(t, "order_masters: true")
		r.minion("m1")
		s := r.minion("s1")
		ear := r.hear()
		fired := func(tag string, kv ...any) *payload.Map { return payload.M("tag", tag, "data", payload.M(kv...)) }
		s.ask(cmd("_minion_event", "pretag", "syndic/s1", "events", []any{fired("salt/job/"+someJID+"/new", "minions",
			[]any{"below"}, "error", 1),
			fired("salt/minion/below/start", "id", "below"), fired("salt/minion/m1/start", "id", "m1"),
			fired("salt/auth", "id", "below")}))
		if data := ear.await("syndic/s1/salt/job/" + someJID + "/new"); !data.Has("minions") || data.Has("error") {
			t.Errorf("got %v", data)
		}
		r.m.Fire("test/end", payload.NewMap(0))
		if got, want := ear.until("test/end"), []string{"syndic/s1/salt/minion/below/start", "salt/minion/below/start",
			"syndic/s1/salt/minion/m1/start", "syndic/s1/salt/auth"}; !slices.Equal(slices.DeleteFunc(got,
			func(tag string) bool {
				return tag == event.TagNudge
			}), want) {
			t.Errorf("got %q", got)
		}
	})
}
