package master

import (
	"strings"
	"testing"
	"time"

	"brine/wire/event"
	"brine/wire/payload"
)

const ruledConf = `external_auth: {sharedsecret: {limited: [test.ping], other: [test.ping]}}`

// publishAs asks for a publication as a user with rules, under a job id.
func (r *rig) publishAs(user, fun, jid string, extra *payload.Map) *payload.Map {
	r.t.Helper()
	kw := payload.M("eauth", "sharedsecret", "username", user, "password", "OpenSesame")
	load := payload.M("cmd", "publish", "tgt", "*", "fun", fun, "arg", []any{}, "tgt_type", "glob", "ret", "", "jid",
		jid, "user", user, "kwargs", kw)
	load.Update(extra)
	reply, ok := r.clear(load).(*payload.Map)
	if !ok {
		return payload.NewMap(0)
	}
	return reply
}

// TestJobIDsOfOthers: under the job id of somebody else a user with rules neither publishes nor has a refusal told, be
// the job stored or not, and whatever stands behind its digits.
func TestJobIDsOfOthers(t *testing.T) {
	r := newRig(t, ruledConf, "sharedsecret: OpenSesame")
	r.accept("m1", "minion")
	stored := r.publish(nil)
	fleeting := r.publish(payload.M("kwargs", payload.M("nocache", true)))
	mine := r.publishAs("other", "test.ping", "", nil).Map("load").Str("jid")
	own := r.m.core.jobs.IDs.Next(time.Now()) // of a run, or of a question to minions
	ear := r.hear()
	for _, jid := range []string{stored, fleeting, mine, own, stored + "_1", own + "_7", stored + "/ret/m1", "x",
		"../x", "a\nb", stored + " ", strings.Repeat("1", 19), stored + "_x"} {
		for _, fun := range []string{"test.ping", "test.echo"} { // allowed, and not
			if got := r.publishAs("limited", fun, jid, nil); got.Has("load") {
				t.Errorf("%s under %q: %s", fun, jid, text(got))
			}
		}
	}
	r.m.Fire("test/end", payload.NewMap(0))
	if seen := ear.until("test/end"); len(seen) > 0 {
		t.Errorf("on the bus: %q", seen)
	}
}

// TestJobIDsOfOnesOwn: a new job id is that of who brings it along, for as many parts as he likes, and a refusal is
// told under it.
func TestJobIDsOfOnesOwn(t *testing.T) {
	r := newRig(t, ruledConf, "sharedsecret: OpenSesame")
	r.accept("m1", "minion")
	const jid = "20260101000000000007"
	for range 2 {
		equal(t, "jid", r.publishAs("limited", "test.ping", jid, nil).Map("load").Str("jid"), jid)
	}
	ear := r.hear()
	equal(t, "refusal", r.publishAs("limited", "test.echo", jid, nil), authorizationError)
	ear.await(event.TagJobError(jid))
	equal(t, "another's", r.publishAs("other", "test.ping", jid, nil), authorizationError)
	equal(t, "root's", r.publish(payload.M("jid", jid)), jid)
	r.stop()
	r.start()
	equal(t, "another's, after a new start", r.publishAs("other", "test.ping", jid, nil), authorizationError)
	equal(t, "root names his job as he likes", r.clear(r.publishLoad(payload.M("jid", "nightly"))).(*payload.Map).Map(
		"load").Str("jid"), "nightly")
	if reply, ok := r.clear(r.publishLoad(payload.M("jid", "a/b"))).(*payload.Map); ok && reply.Has("load") {
		t.Errorf("a job id with a slash: %s", text(reply))
	}
	m := r.minion("m1")
	m.ask(ret("m1", "nightly"))
	equal(t, "its return", r.stored("nightly").Len(), 1)
}

// TestJobIDsOfNamesakes: who has logged in as root, or as whoever the master runs as, gets into none of root's jobs by
// his name, after a new start of the master either, when only the job store knows whose they are.
func TestJobIDsOfNamesakes(t *testing.T) {
	const conf = `external_auth: {sharedsecret: {root: [test.ping], sudo_ann: [test.ping], limited: [test.ping]}}`
	r := newRig(t, conf, "sharedsecret: OpenSesame")
	r.accept("m1", "minion")
	jids := map[string]string{}
	for _, name := range []string{"root", "sudo_ann"} {
		jids[name] = r.publish(payload.M("user", name))
	}
	own := r.publishAs("limited", "test.ping", "", nil).Map("load").Str("jid")
	for range 2 {
		for name, jid := range jids {
			equal(t, name, r.publishAs(name, "test.ping", jid, nil), authorizationError)
			equal(t, name+" begins", r.publishAs(name, "test.ping", "", nil).Has("load"), true)
		}
		equal(t, "limited", r.publishAs("limited", "test.ping", own, nil).Map("load").Str("jid"), own)
		r.stop()
		r.start()
	}
}
