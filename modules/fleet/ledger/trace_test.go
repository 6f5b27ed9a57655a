package ledger

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lines are hops as text: minion, name, time, state.
func lines(hops []Hop) (out []string) {
	for _, h := range hops {
		out = append(out, fmt.Sprint(h.Minion, " ", h.Name, " ", h.At, " ", h.State))
	}
	return out
}

func TestTrace(t *testing.T) {
	s := &Snapshot{
		Job: Job{JID: "j", Request: 100, Work: 101, Matched: 102, Announced: 103, Sealed: 104, Sent: 105, Replied: 106,
			Stored: 107, Minions: []string{"a", "b", "c"},
			Client: &Client{Started: 90, Sent: 95, Replied: 108, Ended: 9_000_300, Seen: map[string]Stamp{"a": 210}}},
		Rows: map[string]*Row{
			"a": {ID: "a", Returned: 200, Fired: 201, Stored: 202, Minion: &Minion{Received: 10, Started: 11, Ended: 12,
				Made: 13, Offset: 100}},
			"b": {ID: "b", Minion: &Minion{Received: 9_000_110, Queued: 9_000_111, Behind: 1}},
			"d": {ID: "d", Returned: 300},
			"e": {ID: "e", Minion: &Minion{Received: 110, Started: 111}},
			"f": {ID: "f", Minion: &Minion{Received: 110, Started: 111, Made: 112}},
		},
	}
	hops := Trace(s, []string{"b", "c"})
	want := []string{
		" command 90 done", " ask 95 done", " request 100 done", " worker 101 done", " target 102 done",
		" announce 103 done", " seal 104 done", " publish 105 done", " reply 106 done", " save 107 done",
		" told 108 done", "a receive 110 done", "a start 111 done", "a end 112 done", "a return 113 done",
		"a arrive 200 done", "a event 201 done", "a store 202 done", "a seen 210 done", "b receive 9000110 late",
		"b queue 9000111 done", "b start 0 open",
		"c receive 0 missing",
		"d receive 0 untold", "d arrive 300 done", "d event 0 missing",
		"e receive 110 done", "e start 111 done", "e end 0 open",
		"f receive 110 done", "f start 111 done", "f end 0 missing", "f return 112 done", "f arrive 0 missing",
		" closed 9000300 done",
	}
	if diff := cmp.Diff(want, lines(hops)); diff != "" {
		t.Errorf("hops (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b: receive"}, Named(hops, HopLate)); diff != "" {
		t.Errorf("late: %s", diff)
	}
	if diff := cmp.Diff([]string{"b: start", "e: end"}, Named(hops, HopOpen)); diff != "" {
		t.Errorf("open: %s", diff)
	}
	if diff := cmp.Diff([]string{"c: receive", "d: event", "f: end", "f: arrive"},
		Named(hops, HopMissing)); diff != "" {
		t.Errorf("missing: %s", diff)
	}
}

// TestTraceOfAMinionsJob: a job that no request began, and a command line that tells nothing.
func TestTraceOfAMinionsJob(t *testing.T) {
	got := lines(Trace(&Snapshot{Job: Job{JID: "j", Announced: 10, Sent: 0, Failed: "cannot be sealed"}}, nil))
	want := []string{" command 0 untold", " ask 0 untold", " request 0 untold", " worker 0 untold", " target 0 untold",
		" announce 10 done", " seal 0 untold", " publish 0 missing", " save 0 missing"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hops (-want +got):\n%s", diff)
	}
}

// TestTraceOverARestart: what a master before this one did is not said to be missing, nor what a minion has not told
// since.
func TestTraceOverARestart(t *testing.T) {
	s := &Snapshot{Job: Job{JID: "j", Minions: []string{"a", "b"}}, Rows: map[string]*Row{
		"a": {ID: "a", Returned: 200, Fired: 201, Stored: 202, Minion: &Minion{Received: 10, Started: 11, Ended: 12,
			Made: 13, Offset: 100}}}}
	hops := Trace(s, []string{"b"})
	if list := Named(hops, HopMissing); len(list) != 0 {
		t.Errorf("missing: %v", list)
	}
	want := []string{" publish 0 untold", "a receive 110 done", "a start 111 done", "a end 112 done",
		"a return 113 done", "a arrive 200 done", "a event 201 done", "a store 202 done", "b receive 0 untold"}
	if diff := cmp.Diff(want, lines(hops)[7:]); diff != "" {
		t.Errorf("hops (-want +got):\n%s", diff)
	}
}
