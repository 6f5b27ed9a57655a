package client

import (
	"testing"

	"brine/wire/payload"
)

// TestRunForged: events with a job's tag but other data end nothing, name no minion and are not returns. A real master
// lets a minion fire them.
func TestRunForged(t *testing.T) {
	job := "salt/job/" + jid1
	var m *fakeMaster
	m = newFakeMaster(t, func(*payload.Map) any {
		lie := payload.M("error", "x", "minions", []string{"x"}, "return", "forged", "id", "b", "jid", jid1)
		for _, tag := range []string{job + "/prog/a/0", job + "/start/a", job, job + "/ret/a", job + "/ret/b/x",
			job + "/ret/", job + "/publish", "syndic/a/" + jid1, "syndic/a/" + job + "/new"} {
			m.fire(tag, lie)
		}
		for _, tag := range []string{job + "/error", job + "/new", job + "/ret/b"} {
			m.fire(tag, lie.Clone().Set("cmd", "_minion_event"))
		}
		m.returns(jid1, "b", true)
		return published(jid1, "b")
	})
	r := startRun(t, m.client(m.options()), Job{Tgt: "*", Fun: "test.ping"})
	expectReturns(t, r, Return{ID: "b", Value: true})
}
