package client

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"brine/wire/payload"
)

// names are many ids.
func names(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("m%03d", i)
	}
	return ids
}

// TestFindJobTarget: find_job goes to the target of the job if it concerns most of its minions. It goes to a list if it
// concerns few, or if the target depends on more than the id.
func TestFindJobTarget(t *testing.T) {
	for _, tt := range []struct {
		name     string
		job      Job
		returned int  // of 200 minions
		refuse   bool // the master refuses the target of the job
		want     []any
	}{
		{"nobody has returned", Job{Tgt: "m*", TgtType: "glob"}, 0, false, []any{"m*", "glob"}},
		{"few have", Job{Tgt: "m.*", TgtType: "pcre"}, 20, false, []any{"m.*", "pcre"}},
		{"most have", Job{Tgt: "m*"}, 150, false, []any{50, "list"}},
		{"by grains", Job{Tgt: "os:Linux", TgtType: "grain"}, 0, false, []any{200, "list"}},
		{"refused", Job{Tgt: "m*"}, 0, true, []any{"m*", "glob", 200, "list"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ids := names(200)
			var asked []any
			var m *fakeMaster
			m = newFakeMaster(t, func(load *payload.Map) any {
				if load.Value("fun") != "saltutil.find_job" {
					for _, id := range ids[:tt.returned] {
						m.returns(jid1, id, true)
					}
					return published(jid1, ids...)
				}
				tgt := load.Value("tgt")
				if list, ok := tgt.([]any); ok {
					tgt = len(list)
				} else if tt.refuse {
					asked = append(asked, tgt, load.Value("tgt_type"))
					return payload.M("error", payload.M("name", "AuthorizationError", "message", "no"))
				}
				asked = append(asked, tgt, load.Value("tgt_type"))
				for _, id := range ids[tt.returned:] {
					m.returns(jid1, id, true)
				}
				return published(jid2, ids...)
			})
			tt.job.Fun = "test.ping"
			r := startRun(t, m.client(m.options()), tt.job)
			got := 0
			inTime := func() {
				if got == tt.returned {
					r.track.deadline = time.Now() // the others are asked next
				}
			}
			inTime()
			for _, err := range r.Returns(testContext(t)) {
				if err != nil {
					t.Fatalf("%d returns, %v", got, err)
				}
				got++
				inTime()
			}
			if got != len(ids) {
				t.Fatalf("%d returns", got)
			}
			if !slices.Equal(asked, tt.want) {
				t.Errorf("asked %v, want %v", asked, tt.want)
			}
		})
	}
}

// TestStanding: the master is asked before minions, and minions only if the master does not know their state.
func TestStanding(t *testing.T) {
	var m *fakeMaster
	m = newFakeMaster(t, func(load *payload.Map) any {
		if load.Value("fun") == "saltutil.find_job" {
			m.returns(jid1, "unknown", 1)
			m.returns(jid1, "works", 2)
			return published(jid2, "unknown")
		}
		return published(jid1, "off", "lost", "works", "unknown")
	})
	opt := m.options()
	opt.Standing = func(_ context.Context, jid string, ids []string) Standing {
		if jid != jid1 || len(ids) != 4 {
			t.Errorf("asked about %s %v", jid, ids)
		}
		return Standing{Gone: []string{"off"}, Returned: []string{"lost"}, Running: []string{"works"}}
	}
	r := startRun(t, m.client(opt), Job{Tgt: "*", Fun: "test.ping"})
	hurry(r)
	r.track.gather, r.track.grace = unhurried, 10*time.Millisecond
	expectReturns(t, r, Return{ID: "unknown", Value: int64(1)}, Return{ID: "works", Value: int64(2)},
		Return{ID: "lost", Silence: NotRunning}, Return{ID: "off", Silence: NotConnected})
	m.load()
	if got := m.load().List("tgt"); len(got) != 1 || got[0] != "unknown" {
		t.Errorf("find_job went to %v", got)
	}
}

// TestStandingKnowsAll: no minion is asked if the master knows the state of all.
func TestStandingKnowsAll(t *testing.T) {
	m := newFakeMaster(t, func(*payload.Map) any { return published(jid1, "off", "gone") })
	opt := m.options()
	opt.Standing = func(_ context.Context, _ string, ids []string) Standing { return Standing{Gone: ids} }
	r := startRun(t, m.client(opt), Job{Tgt: "*", Fun: "test.ping"})
	hurry(r)
	r.track.gather = unhurried
	expectReturns(t, r, Return{ID: "gone", Silence: NotConnected}, Return{ID: "off", Silence: NotConnected})
	m.load()
	if len(m.loads) > 0 {
		t.Errorf("find_job was sent: %v", <-m.loads)
	}
}
