package attack

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
)

// TestThiefFloodsEvents: a million events in one request delay no other client, and most are refused.
func TestThiefFloodsEvents(t *testing.T) {
	s := newSite(t, "")
	th := s.thief("thief", nil)
	before, _ := s.master.rss()
	events := make([]any, 1_000_000)
	for i := range events {
		events[i] = payload.M("tag", "flood/x", "data", payload.M("i", i))
	}
	e := s.listen()
	answered := make(chan error, 1)
	began := time.Now()
	go func() {
		_, err := th.do(payload.M("cmd", payload.CmdMinionEvent, "events", events))
		answered <- err
	}()
	for waiting := true; waiting; s.good() {
		select {
		case err := <-answered:
			if err != nil {
				t.Error(err)
			}
			waiting = false
		default:
		}
	}
	after, _ := s.master.rss()
	n := 0
	for _, h := range e.all() {
		if h.tag == "flood/x" {
			n++
		}
	}
	t.Logf("answered after %v, %d events fired, memory %d MiB before, %d after", time.Since(began), n, before>>20,
		after>>20)
	if n > 20_000 {
		t.Errorf("%d events were fired", n)
	}
	s.good()
}

// TestThiefQuotas: too many requests of a thief are refused and reported, and do not reduce the space for
// honest jobs.
func TestThiefQuotas(t *testing.T) {
	s := newSite(t, "minion_quota_jobs: 50\nminion_quota_events: 50\nminion_quota_mine: 20\nminion_quota_grains: "+
		"20\nminion_data_max_bytes: 10000\n")
	e := s.listen()
	s.good()
	jid := ""
	s.eventually("the honest job on the bus", func() error {
		for _, h := range e.all() {
			if h.data.Str("fun") == "test.ping" && h.data.Has("minions") {
				jid = h.data.Str("jid")
				return nil
			}
		}
		return errors.New("not heard of")
	})
	th := s.thief("thief", nil)
	for i := range 100 {
		for _, jid := range []string{"req", fmt.Sprintf("20260101%012d", i)} {
			th.must(payload.M("cmd", payload.CmdReturn, "id", "thief", "jid", jid, "fun", "test.ping", "return", true,
				"retcode", 0))
		}
		th.must(payload.M("cmd", payload.CmdMinionEvent, "tag", "flood/x", "data", payload.NewMap(0)))
		th.must(payload.M("cmd", payload.CmdMine, "data", payload.M("i", i)))
		if _, err := th.do(payload.M("cmd", payload.CmdPillar, "grains",
			payload.M("big", strings.Repeat("x", 20_000)))); err == nil {
			t.Log("a pillar is no answer of this form") // its reply is encrypted for the minion
		}
	}
	th.must(payload.M("cmd", payload.CmdMine, "data", payload.M("big", strings.Repeat("x", 20_000))))
	s.eventually("what was refused is told", func() error {
		for _, what := range []string{"jobs", "events", "mine", "grains"} {
			if !e.has(func(tag string, data *payload.Map) bool {
				return tag == "brine/minion/refused" && data.Str("what") == what
			}) {
				return errors.New(what)
			}
		}
		return nil
	})
	counts := map[string]int{}
	for _, h := range e.all() {
		switch {
		case strings.HasSuffix(h.tag, "/ret/thief"):
			counts["jobs"]++
		case h.tag == "flood/x":
			counts["events"]++
		case h.tag == "minion/refresh/thief":
			counts["grains"]++
		case h.tag == "brine/minion/refused":
			counts["told "+h.data.Str("what")]++
		}
	}
	for what, most := range map[string]int{"jobs": 60, "events": 60, "grains": 0} {
		if counts[what] > most {
			t.Errorf("%d %s", counts[what], what)
		}
	}
	for _, what := range []string{"jobs", "events", "mine", "grains"} {
		if counts["told "+what] != 1 {
			t.Errorf("refused %s: told %d times, want once", what, counts["told "+what])
		}
	}
	if r := s.tool("salt-run", "--out=json", "jobs.lookup_jid", jid); !strings.Contains(r.stdout, honest) {
		t.Errorf("the honest job: %+v", r)
	}
	if r := s.tool("brine", "minions", "--json"); !strings.Contains(r.stdout, `"refused"`) ||
		!strings.Contains(r.stdout, `"jobs"`) {
		t.Errorf("brine minions: %s %s", r.stdout, r.stderr)
	}
	s.good()
}
