//go:build interop

package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"brine/actors/netapi/console"
)

// TestDay: a page that is open for a day does not grow. The test feeds the data of a day to each view, as fast
// as the page takes it. At the end the page is as heavy as after the first tenth.
func TestDay(t *testing.T) {
	s := newStand(t, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, console.Grains{ID: "m", Grains: json.RawMessage(`{"os":"Debian"}`)})
	})
	s.open(1280, 800)
	for _, part := range []struct {
		hash, view string
		n          int // number of steps in a day
		step       func(i int)
		done       func(i int) string // a text that the page shows after so many steps
	}{
		{"#/events", "events", 200000 / perStep, s.events, func(i int) string {
			return fmt.Sprint(i*perStep, " events")
		}},
		{"#/jobs", "jobs", 1500, s.jobs, marker},
		{"#/fleet", "fleet", 400, s.minions, marker},
		{"#/actors", "actors", 400, s.actors, marker},
		{"#/jobs/20261123163305316797", "job", 600, s.job, marker},
	} {
		s.show(part.hash, part.view)
		run := func(from, to int) {
			for i := from; i < to; i++ {
				part.step(i)
			}
			s.sees(part.done(to))
		}
		run(0, part.n/10)
		s.flat(part.hash, s.weigh(), func() { run(part.n/10, part.n) })
	}
	around := func(n int) {
		for range n {
			for _, v := range []string{"#/jobs", "#/actors", "#/events", "#/fleet"} {
				s.show(v, v[2:])
			}
			s.rows("fleet", map[string]any{"accepted/m": console.Minion{ID: "m", Key: "accepted"}})
			s.click("tbody button")
			s.sees("Debian")
			js[any](s.site, "document.getElementById('panel').close()")
		}
	}
	around(3)
	s.flat("from view to view", s.weigh(), func() { around(15) })
}

// flat compares the weight of the page before and after a function.
func (s *stand) flat(what string, before weight, f func()) {
	s.t.Helper()
	f()
	after := s.bounded(what, weight{nodes: before.nodes*11/10 + 200, listeners: before.listeners*11/10 + 50,
		heap: before.heap*1.25 + 1e6})
	s.t.Logf("%s: %v, then %v", what, before, after)
}

const perStep = 50 // events in one step

// marker is the text that step i-1 leaves in the page.
func marker(i int) string { return fmt.Sprintf("a-marker-%d-", i) }

func (s *stand) events(i int) {
	list := console.EventList{}
	for k := range perStep {
		n := i*perStep + k
		list.Events = append(list.Events, console.Event{N: int64(n + 1),
			Tag: fmt.Sprintf("salt/job/2026112316%010d/ret/web%d", n, n%1000), Size: 100,
			Data: json.RawMessage(
				fmt.Sprintf(
					`{"_stamp":"2026-11-23T16:00:00.%06d","jid":"2026112316%010d","return":"text %d","retcode":0}`,
					n%1000000, n, n))})
	}
	s.send("event", list)
}

func (s *stand) jobs(i int) {
	row := func(i int) (string, console.JobRow) {
		jid := fmt.Sprintf("20261123%012d", i)
		return jid, console.JobRow{JID: jid, Fun: marker(i + 1), Tgt: "*", State: "done", Minions: 1000,
			Returned: int64(i % 1000)}
	}
	set := map[string]any{}
	for k := range 5 {
		jid, one := row(i - k)
		if i-k >= 0 {
			set[jid] = one
		}
	}
	gone, _ := row(i - 200)
	s.rows("jobs", set, gone)
}

func (s *stand) minions(i int) {
	set := map[string]any{"accepted/!": console.Minion{ID: marker(i + 1), Key: "accepted"}}
	for k := range 50 {
		id := fmt.Sprintf("web%03d", (i*50+k)%1000)
		set["accepted/"+id] = console.Minion{ID: id, Key: "accepted", Connected: "yes", Heard: "2026-11-23T16:00:00Z",
			JID: fmt.Sprintf("20261123%012d", i), Fun: "test.ping"}
	}
	s.rows("fleet", set, fmt.Sprintf("accepted/web%03d", i*50%1000+51))
}

func (s *stand) actors(i int) {
	set := map[string]any{"master": console.Node{Path: "master", Name: marker(i + 1), State: "running"}}
	for k := range 40 {
		path := fmt.Sprintf("master/a%d", k)
		set[path] = console.Node{Path: path, Name: fmt.Sprint("a", k), Order: k + 1, Depth: 1, State: "running",
			Rate: float64(i % 17), Busy: 0.1, Restarts: int64(i / 100)}
	}
	job := func(i int) string { return fmt.Sprintf("master/Job-%d", i) }
	set[job(i)] = console.Node{Path: job(i), Name: job(i), Order: 100 + i, Depth: 1, State: "running"}
	s.rows("actors", set, job(i-5))
}

func (s *stand) job(i int) {
	after := int64(1000 + i)
	s.rows("job", map[string]any{"job": console.JobHead{Fun: marker(i + 1), Tgt: "*", Minions: 1000, Returned: int64(i),
		Silent: int64(1000 - i)}})
	ways := map[string]any{}
	for k := range 20 {
		id := fmt.Sprintf("web%03d", (i*20+k)%1000)
		ways[id] = console.Way{Minion: id, State: "returned", Hops: []console.Step{{Hop: "receive", State: "done",
			After: &after}, {Hop: "arrive", State: "done", After: &after}}}
	}
	s.rows("ways", ways)
	fold := func(i int) string { return fmt.Sprint("fold", i%1000) }
	folds := map[string]any{fold(i): console.Fold{Minions: []string{fmt.Sprint("web", i)}, Count: 1,
		Lines: [][]console.Span{{{Text: "text", Color: "red"}}}}}
	s.rows("output", folds, fold(i+1000-30))
	s.rows("why", map[string]any{fmt.Sprint("s", i%50): console.Silence{Minion: fmt.Sprint("web", i), Code: "queued",
		Text: "it waits"}})
}
