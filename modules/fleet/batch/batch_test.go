package batch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestSize(t *testing.T) {
	for _, tt := range []struct {
		size any
		n    int
		want int // 0: refused
	}{
		{"3", 10, 3}, {int64(4), 10, 4}, {" 2 ", 10, 2}, {"0", 10, 1}, {"-5", 10, 1}, {"100", 3, 100},
		{"50%", 3, 1}, {"100%", 3, 3}, {"10%", 3, 1}, {"%40", 10, 4}, {"33.4%", 9, 3}, {"99%", 100, 99},
		{"-10%", 10, 1}, {"abc", 3, 0}, {"1.5", 3, 0}, {"x%", 3, 0}, {"nan%", 3, 0}, {"inf%", 3, 0}, {"", 3, 0},
		{"%", 3, 0}, {nil, 3, 0},
	} {
		got, err := places(tt.size, tt.n)
		if got != tt.want || (err != nil) != (tt.want == 0) {
			t.Errorf("places(%v, %d): got %d, %v, want %d", tt.size, tt.n, got, err, tt.want)
		}
	}
	_, err := places("abc", 1)
	want := "Invalid batch specification 'abc': must be an integer or percentage string like '10' or '25%'."
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// ret is a return with an exit code.
func ret(id string, code int) Return {
	return Return{ID: id, Data: payload.M("ret", true, "retcode", code), Retcode: code}
}

// TestStep walks batches through steps; each step says what comes in and who is taken next.
func TestStep(t *testing.T) {
	type step struct {
		after   time.Duration
		returns []Return
		silent  []string
		take    string // ids with blanks between
		done    bool
	}
	for _, tt := range []struct {
		name  string
		spec  Spec
		ids   string
		steps []step
	}{
		{"one by one, from the front", Spec{Size: "1"}, "a b c", []step{
			{take: "a"}, {returns: []Return{ret("a", 0)}, take: "b"},
			{returns: []Return{ret("a", 0)}}, // a second return frees nothing
			{returns: []Return{ret("b", 3)}, take: "c"}, {returns: []Return{ret("c", 0)}, done: true}}},
		{"all at once", Spec{Size: "100%"}, "a b c", []step{
			{take: "a b c"}, {returns: []Return{ret("b", 0)}}, {silent: []string{"a", "b", "c"}, done: true}}},
		{"a silent one makes room", Spec{Size: "2"}, "a b c", []step{
			{take: "a b"}, {silent: []string{"b"}, take: "c"}, {returns: []Return{ret("a", 0), ret("c", 0)},
				done: true}}},
		{"a late return of a silent one does not count", Spec{Size: "1"}, "a b", []step{
			{take: "a"}, {silent: []string{"a"}, take: "b"}, {returns: []Return{ret("a", 1)}},
			{returns: []Return{ret("b", 0)}, done: true}}},
		{"failhard", Spec{Size: "1", Failhard: true}, "a b c", []step{
			{take: "a"}, {returns: []Return{ret("a", 0)}, take: "b"}, {returns: []Return{ret("b", 2)}, done: true}}},
		{"failhard and a job that did not arrive", Spec{Size: "1", Failhard: true}, "a b", []step{
			{take: "a"}, {returns: []Return{{ID: "a", Failed: true}}, done: true}}},
		{"silence is no failure", Spec{Size: "1", Failhard: true}, "a b", []step{
			{take: "a"}, {silent: []string{"a"}, take: "b"}, {returns: []Return{ret("b", 0)}, done: true}}},
		{"a place stays taken", Spec{Size: "1", Wait: 5 * time.Second}, "a b", []step{
			{take: "a"}, {after: time.Second, returns: []Return{ret("a", 0)}}, {after: 4 * time.Second},
			{after: time.Second, take: "b"}, {returns: []Return{ret("b", 0)}, done: true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := start
			b, err := New(tt.spec, strings.Fields(tt.ids), now)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range tt.steps {
				now = now.Add(s.after)
				took, _ := b.Step(now, s.returns, s.silent)
				if got := strings.Join(took, " "); got != s.take || b.Finished() != s.done {
					t.Fatalf("step %d: took %q, finished %v, want %q, %v", i, got, b.Finished(), s.take, s.done)
				}
			}
		})
	}
}

// TestWake: a place that comes free by itself has a time, as long as somebody waits for it.
func TestWake(t *testing.T) {
	b, err := New(Spec{Size: "1", Wait: 2 * time.Second}, []string{"a", "b"}, start)
	if err != nil {
		t.Fatal(err)
	}
	b.Step(start, nil, nil)
	if !b.Wake().IsZero() {
		t.Errorf("nothing has finished, yet it wakes at %v", b.Wake())
	}
	b.Step(start, []Return{ret("a", 0)}, nil)
	if want := start.Add(2 * time.Second); !b.Wake().Equal(want) {
		t.Errorf("wakes at %v, want %v", b.Wake(), want)
	}
	b.Step(start.Add(2*time.Second), nil, nil)
	if !b.Wake().IsZero() {
		t.Errorf("nobody waits, yet it wakes at %v", b.Wake())
	}
}

// TestTakesEachOnce: whatever comes in, each minion gets the job once, never more at a time than there are
// places, and the batch ends.
func TestTakesEachOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, places := rapid.IntRange(1, 20).Draw(t, "minions"), rapid.IntRange(1, 8).Draw(t, "places")
		var ids []string
		for i := range n {
			ids = append(ids, fmt.Sprint("m", i))
		}
		b, err := New(Spec{Size: places}, ids, start)
		if err != nil {
			t.Fatal(err)
		}
		taken := map[string]int{}
		step := func(returns []Return, silent []string) {
			took, _ := b.Step(start, returns, silent)
			for _, id := range took {
				taken[id]++
			}
			if b.active.Len() > places {
				t.Fatalf("%d at work on %d places", b.active.Len(), places)
			}
		}
		step(nil, nil)
		for !b.Finished() {
			working := b.active.Keys()
			id := working[rapid.IntRange(0, len(working)-1).Draw(t, "who")].(string)
			if rapid.Bool().Draw(t, "returns") {
				step([]Return{ret(id, 0)}, nil)
			} else {
				step(nil, []string{id})
			}
		}
		if b.done.Len()+b.failed.Len() != n || len(taken) != n {
			t.Fatalf("%d of %d through, %d taken", b.done.Len()+b.failed.Len(), n, len(taken))
		}
		for id, times := range taken {
			if times != 1 {
				t.Fatalf("%s was taken %d times", id, times)
			}
		}
	})
}

// TestEvents: the state and the events carry Salt's keys in Salt's order.
func TestEvents(t *testing.T) {
	b, err := New(Spec{JID: "20261121120000000000", Fun: "test.ping", Tgt: "*", TgtType: "glob", User: "root",
		Driver: ByMaster, Size: "50%", Wait: 1500 * time.Millisecond, Timeout: 5 * time.Second,
		Gather: 10 * time.Second}, []string{"a", "b"}, start)
	if err != nil {
		t.Fatal(err)
	}
	b.Step(start, nil, nil)
	b.Step(start, []Return{ret("a", 0)}, nil)
	at := float64(start.Unix())
	want := payload.M("jid", "20261121120000000000", "all_minions", []any{"a", "b"}, "pending", []any{"b"}, "active",
		payload.NewMap(0), "done", payload.M("a", payload.M("ret", true, "retcode", 0)), "failed", payload.NewMap(0),
		"wait", []any{at + 1.5}, "batch_size", 1, "fun", "test.ping", "arg", []any{}, "kwargs", payload.NewMap(0),
		"tgt", "*", "tgt_type", "glob", "failhard", false, "batch_wait", 1.5, "timeout", int64(5), "gather_job_timeout",
		int64(10), "last_progress", at, "created", at, "halted", false, "halted_reason", nil, "driver", "master", "ret",
		"", "user", "root")
	if d := cmp.Diff(packed(t, want), packed(t, b.Map())); d != "" {
		t.Error(d)
	}
	head := payload.M("jid", "20261121120000000000", "fun", "test.ping", "tgt", "*", "tgt_type", "glob", "user", "root")
	if d := cmp.Diff(packed(t, head.Clone().Set("total_minions", 2).Set("batch_size", 1).Set("driver",
		"master").Set("created", at)), packed(t, b.NewEvent())); d != "" {
		t.Error(d)
	}
	b.Halt("stop")
	if got := b.StateEvent().Map("state").Value("halted_reason"); got != "stop" {
		t.Errorf("halted_reason %v", got)
	}
	if got := b.StateEvent().Keys(); !slices.Equal(got, append(head.Keys(), "driver", "state")) {
		t.Errorf("keys %v", got)
	}
}

// TestShownEntry: what came with a return stands before it, the outputter apart.
func TestShownEntry(t *testing.T) {
	e := Entry(payload.NewReturn(payload.M("jid", "1", "id", "web1", "return", "x", "retcode", 4, "out", "txt",
		"success", false)))
	shown, out := Shown("web1", e)
	if d := cmp.Diff(packed(t, payload.M("retcode", 4, "jid", "1", "web1", "x")), packed(t, shown)); d != "" ||
		out != "txt" {
		t.Errorf("outputter %q, %s", out, d)
	}
}

// TestWholeOf finds out where a target can be sent in place of a list.
func TestWholeOf(t *testing.T) {
	many := make([]string, 20)
	for i := range many {
		many[i] = fmt.Sprintf("m%02d", i)
	}
	for _, tt := range []struct {
		name      string
		tgt       any
		kind      string
		all       []string
		up, down  []string
		want, how string // "": a list
	}{
		{"all are up", "*", "glob", many, many, nil, "*", "glob"},
		{"in another order", "G@a:b", "compound", []string{"a", "b"}, []string{"b", "a"}, nil, "G@a:b", "compound"},
		{"one is down", "m*", "glob", many, many[:19], many[19:], "m* and not L@m19", "compound"},
		{"two are", "*", "glob", many[:20], many[2:], many[:2], "", ""}, // of 18
		{"many are down", "*", "glob", many, many[:10], many[10:], "", ""},
		{"one of few", "*", "glob", many[:3], many[:2], many[2:3], "", ""},
		{"grains", "os:Linux", "grain", many, many[:19], many[19:], "", ""},
		{"one answers who was not meant", "*", "glob", many[:19], many, nil, "", ""},
		{"one is neither", "*", "glob", many, many[:19], nil, "", ""},
		{"a list", []any{"a"}, "list", []string{"a"}, []string{"a"}, nil, "", ""},
		{"a pattern with brackets", "[m]*", "glob", many, many[:19], many[19:], "", ""},
		{"a word of compounds", "or", "glob", many, many[:19], many[19:], "", ""},
		{"an odd id", "*", "glob", append([]string{"a,b"}, many...), many, []string{"a,b"}, "", ""},
	} {
		got := WholeOf(tt.tgt, tt.kind, tt.all, tt.up, tt.down)
		if got == nil {
			got = &Whole{"", ""}
		}
		if got.Tgt != tt.want || got.Kind != tt.how {
			t.Errorf("%s: %v %s, want %q %s", tt.name, got.Tgt, got.Kind, tt.want, tt.how)
		}
	}
}

// packed is a map as bytes, so that the order of its keys counts.
func packed(t *testing.T, m *payload.Map) string {
	t.Helper()
	raw, err := payload.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
