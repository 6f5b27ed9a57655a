package attack

import (
	"testing"

	"brine/wire/payload"
)

// TestThiefReturns: a thief cannot return for another minion: not with its id, a resource, a syndic's list, or
// a job id with slashes.
func TestThiefReturns(t *testing.T) {
	for _, conf := range []string{"", "order_masters: True\n"} {
		s := newSite(t, conf)
		th := s.namer("thief")
		th.must(payload.M("cmd", payload.CmdReturn, "id", "thief", "jid", "20260101000000000000", "fun", "test.ping",
			"return", true, "retcode", 0))
		e := s.listen()
		const jid = "20260101000000000001"
		ret := func(kv ...any) *payload.Map {
			m := payload.M("cmd", payload.CmdReturn, "id", "thief", "jid", jid, "fun", "test.ping", "return", forged,
				"retcode", 0)
			m.Update(payload.M(kv...))
			return m
		}
		one := payload.M("id", "thief", "jid", jid, "fun", "test.ping", "load", payload.M("fun", forged, "tgt", "*",
			"jid", jid), "return", payload.M(honest, payload.M("return", forged, "retcode", 0)))
		own := ret("resource_id", honest)
		for _, load := range []*payload.Map{
			own, ret("resource_id", "../x"), ret("jid", jid+"/ret/"+honest), ret("jid", jid+"/new"),
			ret("jid", "../../x"), ret("jid", "a\nb"), payload.M("cmd", payload.CmdRegisterResources, "resources",
				payload.M("x", []any{honest})), own, payload.M("cmd", payload.CmdSyndicReturn, "load", []any{one}),
			one.Clone().Set("cmd", payload.CmdSyndicReturn),
		} {
			th.must(load.Clone())
		}
		for version := range 4 { // old versions are not even allowed here
			if err := th.say(version, ret("id", honest).Set("tok", th.auth.Token())); err != nil {
				t.Fatal(err)
			}
		}
		s.good()
		if e.has(func(tag string, data *payload.Map) bool {
			return tag != "brine/minion/refused" && isForged(tag, data)
		}) {
			t.Errorf("with %q: events of forged returns: %v", conf, e.all())
		}
		if r := s.tool("salt-run", "--out=json", "jobs.lookup_jid", jid); r.code != 0 ||
			isForged("", payload.M("out", r.stdout)) {
			t.Errorf("with %q: jobs.lookup_jid: %+v", conf, r)
		}
	}
}

// TestThiefRewritesJobs: a syndic's message about a known job changes neither its load nor its list of minions.
func TestThiefRewritesJobs(t *testing.T) {
	s := newSite(t, "order_masters: True\n")
	th := s.thief("syndic", nil)
	th.must(payload.M("cmd", payload.CmdMinionEvent, "tag", "salt/syndic/syndic/start", "data", "started", "pretag",
		nil))
	e := s.listen()
	s.good()
	jid := ""
	for _, h := range e.all() {
		if h.data.Str("fun") == "test.ping" && h.data.Has("minions") {
			jid = h.data.Str("jid")
		}
	}
	th.must(payload.M("cmd", payload.CmdSyndicReturn, "load", []any{payload.M("id", "syndic", "jid", jid, "load",
		payload.M("fun", forged, "tgt", "*", "jid", jid), "return",
		payload.M("below", payload.M("return", true, "retcode", 0), honest, payload.M("return", forged, "retcode",
			0)))}))
	if r := s.tool("salt-run", "--out=json", "jobs.list_job", jid); isForged("", payload.M("out", r.stdout)) {
		t.Errorf("job %s: %s", jid, r.stdout)
	}
	s.good()
}
