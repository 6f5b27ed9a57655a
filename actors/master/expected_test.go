package master

import (
	"fmt"
	"testing"

	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/wire/payload"
)

// register names all resources of a minion.
func (m *testMinion) register(ids ...any) {
	m.r.t.Helper()
	equal(m.r.t, "register", m.ask(cmd("_register_resources", "resources", payload.M("dummy", ids))), true)
}

// answers returns a job in the name of some ids, and tells which are stored, and which the bus has heard of.
func (m *testMinion) answers(jid string, ids ...string) (stored, heard []any) {
	m.r.t.Helper()
	ear := m.r.hear()
	for _, id := range ids {
		load := ret(m.id, jid, "return", "from "+m.id)
		if id != m.id {
			load.Set("resource_id", id)
		}
		equal(m.r.t, "answer", m.ask(load), nil)
	}
	m.r.m.Fire("test/end", payload.NewMap(0))
	tags := ear.until("test/end")
	kept := m.r.stored(jid)
	for _, id := range ids {
		if kept.Map(id).Value("return") == "from "+m.id {
			stored = append(stored, id)
		}
		for _, tag := range tags {
			if tag == "salt/job/"+jid+"/ret/"+id {
				heard = append(heard, id)
				break
			}
		}
	}
	return stored, heard
}

// TestReturnsExpected: a return counts when its job means the minion, or was aimed at a minion that had registered
// the resource before. In memory and, after a new start, on disk the same is known.
func TestReturnsExpected(t *testing.T) {
	for _, cache := range []string{"", "master_job_cache: local_cache"} {
		r := newRig(t, cache)
		m1, m2 := r.minion("m1"), r.minion("m2")
		for _, st := range []keys.Status{keys.Pending, keys.Rejected, keys.Denied} {
			id := map[keys.Status]string{keys.Pending: "pending", keys.Rejected: "rejected", keys.Denied: "denied"}[st]
			if err := r.keyStore().Put(st, id, r.rsa["minion"].Public); err != nil {
				t.Fatal(err)
			}
		}
		m1.register("r1", "pending", "rejected", "denied", "m2")
		m2.register("x1")
		all := []string{"m1", "r1", "late", "x1", "m2", "pending", "rejected", "denied", "free text", "nobody"}
		jobs := []struct {
			tgt   any
			kind  string
			want  []any
			again string
		}{
			{"*", "glob", []any{"m1", "r1"}, ""},
			{"m*", "glob", []any{"m1", "r1"}, ""},
			{"m1", "glob", []any{"m1"}, ""},
			{"m2", "glob", nil, ""},
			{"m[2-9]", "glob", nil, ""},
			{".*1", "pcre", []any{"m1", "r1"}, ""},
			{"m2|x", "pcre", nil, ""},
			{[]any{"m2", "m1"}, "list", []any{"m1"}, ""},
			{[]any{"m2", "r1"}, "list", []any{"r1"}, ""},
			{"m2,nobody", "list", nil, ""},
			{"m1 or m2", "compound", []any{"m1", "r1"}, ""},
			{"m2 and not m1", "compound", []any{"m1"}, ""}, // what a compound target means the minion knows
		}
		for i := range jobs {
			kv := payload.M("tgt", jobs[i].tgt, "tgt_type", jobs[i].kind)
			jobs[i].again = r.publish(kv)
			jid := r.publish(kv)
			m1.register("r1", "late")
			stored, heard := m1.answers(jid, all...)
			what := fmt.Sprintf("%s %v %v", cache, jobs[i].kind, jobs[i].tgt)
			equal(t, what+": stored", stored, jobs[i].want)
			equal(t, what+": heard", heard, jobs[i].want)
			m1.register("r1")
		}
		m1.register("r1", "late")
		if d := r.m.core.book.Peers.Get("m1").Denied; d == nil || int(d.N[ledger.DeniedReturn]) < 8*len(jobs) {
			t.Errorf("refused: %+v", d)
		}
		r.stop()
		r.start()
		m1 = r.minion("m1")
		for _, job := range jobs {
			stored, heard := m1.answers(job.again, all...)
			what := fmt.Sprintf("%s %v %v after a new start", cache, job.kind, job.tgt)
			equal(t, what+": stored", stored, job.want)
			equal(t, what+": heard", heard, job.want)
		}
	}
}

// TestReturnsNobodyAskedFor: in jobs that nobody asked the master for a minion speaks for itself, whoever spoke of
// them first, and whatever that one said of their target; and for no resource.
func TestReturnsNobodyAskedFor(t *testing.T) {
	for _, cache := range []string{"", "master_job_cache: local_cache"} {
		r := newRig(t, cache)
		m1, m2 := r.minion("m1"), r.minion("m2")
		m1.register("r1")
		m2.ask(ret("m2", someJID, "tgt", []any{"m2"}, "tgt_type", "list"))
		for range 2 {
			stored, heard := m1.answers(someJID, "r1", "m1")
			equal(t, "stored", stored, []any{"m1"})
			equal(t, "heard", heard, []any{"m1"})
			r.stop()
			r.start()
			m1 = r.minion("m1")
		}
		stored, _ := m1.answers("20260101000000000007", "r1", "m1")
		equal(t, "stored", stored, []any{"m1"})
	}
}

// TestReturnsOfPartedJob: a job that is published in parts under one id, with a new start of the master between,
// expects the minions of all.
func TestReturnsOfPartedJob(t *testing.T) {
	r := newRig(t)
	m1, m2 := r.minion("m1"), r.minion("m2")
	jid := r.publish(payload.M("tgt", []any{"m1"}, "tgt_type", "list"))
	r.stop()
	r.start()
	r.publish(payload.M("tgt", []any{"m2"}, "tgt_type", "list", "jid", jid))
	for _, m := range []*testMinion{m1, m2} {
		m = r.minion(m.id)
		stored, _ := m.answers(jid, m.id)
		equal(t, "stored", stored, []any{m.id})
	}
}

// TestReturnsOfBoundJob: a job that rules bind to minions expects no others, whomever its target would mean.
func TestReturnsOfBoundJob(t *testing.T) {
	r := newRig(t, "external_auth: {sharedsecret: {limited: [{'m1': [test.ping]}]}}", "sharedsecret: OpenSesame")
	m1 := r.minion("m1")
	kw := payload.M("eauth", "sharedsecret", "username", "limited", "password", "OpenSesame")
	jid := r.publishAs("limited", "test.ping", "", payload.M("tgt", "m*", "kwargs", kw)).Map("load").Str("jid")
	m2 := r.minion("m2")
	for _, m := range []*testMinion{m1, m2} {
		stored, heard := m.answers(jid, m.id)
		want := []any{"m1"}
		if m == m2 {
			want = nil
		}
		equal(t, "stored", stored, want)
		equal(t, "heard", heard, want)
	}
}

// TestReturnsCost: returns that a job names cost none of a minion's quota, those of its resources included; all
// others do.
func TestReturnsCost(t *testing.T) {
	r := newRig(t, "minion_quota_jobs: 2")
	m1 := r.minion("m1")
	r.minion("b2")
	var ids []any
	names := []string{"m1"}
	for i := range 20 {
		ids, names = append(ids, fmt.Sprintf("r%d", i)), append(names, fmt.Sprintf("r%d", i))
	}
	m1.register(ids...)
	for range 3 {
		stored, _ := m1.answers(r.publish(payload.NewMap(0)), names...)
		equal(t, "stored", len(stored), len(names))
	}
	for range 3 { // in any order
		stored, _ := m1.answers(r.publish(payload.M("tgt", []any{"m1", "b2"}, "tgt_type", "list")), "m1")
		equal(t, "stored", stored, []any{"m1"})
	}
	taken := 0
	for i := range 5 {
		if m1.ask(ret("m1", fmt.Sprintf("2026010100000000010%d", i))) == nil {
			taken++
		}
	}
	equal(t, "taken", taken, 2)
}
