package salt

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/cmd/tooltest"
	"brine/wire/control"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var batchStart = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestBatchSize(t *testing.T) {
	for _, tt := range []struct {
		size any
		n    int
		want int // 0: refused
	}{
		{"3", 10, 3}, {int64(4), 10, 4}, {" 2 ", 10, 2}, {"0", 10, 1}, {"-5", 10, 1}, {"100", 3, 100},
		{"50%", 3, 1}, {"100%", 3, 3}, {"10%", 3, 1}, {"%40", 10, 4}, {"33.4%", 9, 3}, {"99%", 100, 99}, {"-10%", 10, 1},
		{"abc", 3, 0}, {"1.5", 3, 0}, {"x%", 3, 0}, {"nan%", 3, 0}, {"inf%", 3, 0}, {"", 3, 0}, {"%", 3, 0}, {nil, 3, 0},
	} {
		got, err := batchSize(tt.size, tt.n)
		if got != tt.want || (err != nil) != (tt.want == 0) {
			t.Errorf("batchSize(%v, %d): got %d, %v, want %d", tt.size, tt.n, got, err, tt.want)
		}
	}
	_, err := batchSize("abc", 1)
	if want := "Invalid batch specification 'abc': must be an integer or percentage string like '10' or '25%'."; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// ret is a return with an exit code.
func ret(id string, code int) batchReturn {
	return batchReturn{id: id, data: payload.M("ret", true, "retcode", code), retcode: code}
}

// TestBatchStep walks batches through steps; each step says what comes in and who is taken next.
func TestBatchStep(t *testing.T) {
	type step struct {
		after   time.Duration
		returns []batchReturn
		silent  []string
		take    string // ids with blanks between
		done    bool
	}
	for _, tt := range []struct {
		name  string
		spec  batchSpec
		ids   string
		steps []step
	}{
		{"one by one, from the front", batchSpec{size: "1"}, "a b c", []step{
			{take: "a"}, {returns: []batchReturn{ret("a", 0)}, take: "b"},
			{returns: []batchReturn{ret("a", 0)}}, // a second return frees nothing
			{returns: []batchReturn{ret("b", 3)}, take: "c"}, {returns: []batchReturn{ret("c", 0)}, done: true}}},
		{"all at once", batchSpec{size: "100%"}, "a b c", []step{
			{take: "a b c"}, {returns: []batchReturn{ret("b", 0)}}, {silent: []string{"a", "b", "c"}, done: true}}},
		{"a silent one makes room", batchSpec{size: "2"}, "a b c", []step{
			{take: "a b"}, {silent: []string{"b"}, take: "c"}, {returns: []batchReturn{ret("a", 0), ret("c", 0)}, done: true}}},
		{"a late return of a silent one does not count", batchSpec{size: "1"}, "a b", []step{
			{take: "a"}, {silent: []string{"a"}, take: "b"}, {returns: []batchReturn{ret("a", 1)}}, {returns: []batchReturn{ret("b", 0)}, done: true}}},
		{"failhard", batchSpec{size: "1", failhard: true}, "a b c", []step{
			{take: "a"}, {returns: []batchReturn{ret("a", 0)}, take: "b"}, {returns: []batchReturn{ret("b", 2)}, done: true}}},
		{"failhard and a job that did not arrive", batchSpec{size: "1", failhard: true}, "a b", []step{
			{take: "a"}, {returns: []batchReturn{{id: "a", failed: true}}, done: true}}},
		{"silence is no failure", batchSpec{size: "1", failhard: true}, "a b", []step{
			{take: "a"}, {silent: []string{"a"}, take: "b"}, {returns: []batchReturn{ret("b", 0)}, done: true}}},
		{"a place stays taken", batchSpec{size: "1", wait: 5 * time.Second}, "a b", []step{
			{take: "a"}, {after: time.Second, returns: []batchReturn{ret("a", 0)}}, {after: 4 * time.Second},
			{after: time.Second, take: "b"}, {returns: []batchReturn{ret("b", 0)}, done: true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := batchStart
			b, err := newBatch(tt.spec, strings.Fields(tt.ids), now)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range tt.steps {
				now = now.Add(s.after)
				took, _ := b.step(now, s.returns, s.silent)
				if got := strings.Join(took, " "); got != s.take || b.finished() != s.done {
					t.Fatalf("step %d: took %q, finished %v, want %q, %v", i, got, b.finished(), s.take, s.done)
				}
			}
		})
	}
}

// TestBatchWake: a place that comes free by itself has a time, as long as somebody waits for it.
func TestBatchWake(t *testing.T) {
	b, err := newBatch(batchSpec{size: "1", wait: 2 * time.Second}, []string{"a", "b"}, batchStart)
	if err != nil {
		t.Fatal(err)
	}
	b.step(batchStart, nil, nil)
	if !b.wake().IsZero() {
		t.Errorf("nothing has finished, yet it wakes at %v", b.wake())
	}
	b.step(batchStart, []batchReturn{ret("a", 0)}, nil)
	if want := batchStart.Add(2 * time.Second); !b.wake().Equal(want) {
		t.Errorf("wakes at %v, want %v", b.wake(), want)
	}
	b.step(batchStart.Add(2*time.Second), nil, nil)
	if !b.wake().IsZero() {
		t.Errorf("nobody waits, yet it wakes at %v", b.wake())
	}
}

// TestBatchTakesEachOnce: whatever comes in, each minion gets the job once, never more at a time than there are
// places, and the batch ends.
func TestBatchTakesEachOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, places := rapid.IntRange(1, 20).Draw(t, "minions"), rapid.IntRange(1, 8).Draw(t, "places")
		var ids []string
		for i := range n {
			ids = append(ids, fmt.Sprint("m", i))
		}
		b, err := newBatch(batchSpec{size: places}, ids, batchStart)
		if err != nil {
			t.Fatal(err)
		}
		taken := map[string]int{}
		step := func(returns []batchReturn, silent []string) {
			took, _ := b.step(batchStart, returns, silent)
			for _, id := range took {
				taken[id]++
			}
			if b.active.Len() > places {
				t.Fatalf("%d at work on %d places", b.active.Len(), places)
			}
		}
		step(nil, nil)
		for !b.finished() {
			working := b.active.Keys()
			id := working[rapid.IntRange(0, len(working)-1).Draw(t, "who")].(string)
			if rapid.Bool().Draw(t, "returns") {
				step([]batchReturn{ret(id, 0)}, nil)
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

// TestBatchEvents: the state and the events carry Salt's keys in Salt's order.
func TestBatchEvents(t *testing.T) {
	b, err := newBatch(batchSpec{jid: "20261121120000000000", fun: "test.ping", tgt: "*", tgtType: "glob", user: "root",
		driver: batchByMaster, size: "50%", wait: 1500 * time.Millisecond, timeout: 5 * time.Second, gather: 10 * time.Second}, []string{"a", "b"}, batchStart)
	if err != nil {
		t.Fatal(err)
	}
	b.step(batchStart, nil, nil)
	b.step(batchStart, []batchReturn{ret("a", 0)}, nil)
	at := float64(batchStart.Unix())
	want := payload.M("jid", "20261121120000000000", "all_minions", []any{"a", "b"}, "pending", []any{"b"}, "active", payload.NewMap(0),
		"done", payload.M("a", payload.M("ret", true, "retcode", 0)), "failed", payload.NewMap(0), "wait", []any{at + 1.5}, "batch_size", 1,
		"fun", "test.ping", "arg", []any{}, "kwargs", payload.NewMap(0), "tgt", "*", "tgt_type", "glob", "failhard", false,
		"batch_wait", 1.5, "timeout", int64(5), "gather_job_timeout", int64(10), "last_progress", at, "created", at,
		"halted", false, "halted_reason", nil, "driver", "master", "ret", "", "user", "root")
	if d := cmp.Diff(tooltest.Packed(t, want), tooltest.Packed(t, b.Map())); d != "" {
		t.Error(d)
	}
	head := payload.M("jid", "20261121120000000000", "fun", "test.ping", "tgt", "*", "tgt_type", "glob", "user", "root")
	if d := cmp.Diff(tooltest.Packed(t, head.Clone().Set("total_minions", 2).Set("batch_size", 1).Set("driver", "master").Set("created", at)), tooltest.Packed(t, b.newEvent())); d != "" {
		t.Error(d)
	}
	b.halt("stop")
	if got := b.stateEvent().Map("state").Value("halted_reason"); got != "stop" {
		t.Errorf("halted_reason %v", got)
	}
	if got := b.stateEvent().Keys(); !slices.Equal(got, append(head.Keys(), "driver", "state")) {
		t.Errorf("keys %v", got)
	}
}

// TestShownEntry: what came with a return stands before it, the outputter apart.
func TestShownEntry(t *testing.T) {
	e := entry(payload.M("jid", "1", "id", "web1", "return", "x", "retcode", 4, "out", "txt", "success", false))
	shown, out := shownEntry("web1", e)
	if d := cmp.Diff(tooltest.Packed(t, payload.M("retcode", 4, "jid", "1", "web1", "x")), tooltest.Packed(t, shown)); d != "" || out != "txt" {
		t.Errorf("outputter %q, %s", out, d)
	}
}

// TestMasterRunsBatches: a Salt master takes batches over, one of brine only when it says so.
func TestMasterRunsBatches(t *testing.T) {
	for _, tt := range []struct {
		name string
		help *payload.Map // nil: no control socket
		want bool
	}{{"salt", nil, true}, {"brine", payload.M("tree", true), false}, {"brine with batches", payload.M("tree", true, control.Batches, true), true}} {
		t.Run(tt.name, func(t *testing.T) {
			r := tooltest.MustOpen(t, saltParser, "", "*", "test.ping")
			if tt.help != nil {
				h := control.Handlers{}
				control.On(h, func(context.Context, control.GetHelp) (*payload.Map, error) { return tt.help, nil })
				tooltest.ServeControl(t, r.Session, h)
			}
			b := &batchRun{saltTool: &saltTool{Session: r.Session}}
			if got := b.masterRunsBatches(t.Context()); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
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
		got := wholeOf(tt.tgt, tt.kind, tt.all, tt.up, tt.down)
		if got == nil {
			got = &wholeTarget{"", ""}
		}
		if got.tgt != tt.want || got.kind != tt.how {
			t.Errorf("%s: %v %s, want %q %s", tt.name, got.tgt, got.kind, tt.want, tt.how)
		}
	}
}
