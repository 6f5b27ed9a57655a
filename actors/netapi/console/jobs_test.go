package console

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"brine/wire/control"
	"brine/wire/payload"
)

func TestSpans(t *testing.T) {
	got := spans("\x1b[0;36mweb1\x1b[0;0m:\n    \x1b[0;1;31mno <b>\x1b[0;0m\x1b[\n")
	want := [][]Span{{{"web1", "cyan"}, {":", ""}}, {{"    ", ""}, {"no <b>", "red bold"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestFolded: equal returns make one row, whatever their order. Another exit code makes another row.
func TestFolded(t *testing.T) {
	got := folded(payload.M("b", payload.M("return", "x", "retcode", 0), "a", payload.M("return", "x", "retcode", 0),
		"c", payload.M("return", "x", "retcode", 1), "d", payload.M("return", payload.M("k", []any{int64(1), "y"}))))
	texts := map[string]string{}
	for _, v := range got {
		f := v.(Fold)
		var text strings.Builder
		for _, line := range f.Lines {
			for _, s := range line {
				text.WriteString(s.Text)
			}
			text.WriteString("|")
		}
		texts[strings.Join(f.Minions, ",")] = fmt.Sprint(f.Count, f.Retcode, text.String())
	}
	want := map[string]string{"a,b": "2 0 a and 1 more:|    x|", "c": "1 1 c:|    x|",
		"d": "1 0 d:|    ----------|    k:|        - 1|        - y|"}
	for ids, text := range want {
		if strings.ReplaceAll(texts[ids], " ", "") != strings.ReplaceAll(text, " ", "") {
			t.Errorf("%s: got %q, want %q", ids, texts[ids], text)
		}
	}
	many := payload.M()
	for i := range maxFolds + 10 {
		many.Set(fmt.Sprint("m", i), payload.M("return", i))
	}
	if n := len(folded(many)); n != maxFolds {
		t.Errorf("%d folds", n)
	}
	long := folded(payload.M("a", payload.M("return", strings.Repeat("x\n", maxOutput))))
	for _, v := range long {
		if f := v.(Fold); !f.Cut || len(f.Lines) > maxOutput {
			t.Error("a long output is not cut")
		}
	}
}

func TestTagWanted(t *testing.T) {
	for _, tt := range []struct {
		filter, tag string
		want        bool
	}{
		{"", "x", true}, {"salt/job", "salt/job/1/new", true}, {"salt/job", "salt/run", false},
		{"salt/job/*/ret/*", "salt/job/1/ret/web1", true}, {"*/ret/*", "salt/job/1/ret/a/b", true},
		{"salt/job/*/new", "salt/job/1/ret", false}, {"[a]*", "a", false}, {"[a]*", "[a]b", true}, {`a\*`, `a\b`, true},
		{"?", "/", true},
	} {
		if got := tagWanted(tt.filter)(tt.tag); got != tt.want {
			t.Errorf("%q, %q: %v", tt.filter, tt.tag, got)
		}
	}
}

func TestSignature(t *testing.T) {
	got := signature(payload.M("args", []any{"cmd", "cwd", "shell", "x"}, "defaults", []any{nil, "", true}, "varargs",
		"args", "kwargs", true))
	if want := "cmd cwd=None shell='' x=True *args **kwargs"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestArguments(t *testing.T) {
	got := arguments([]any{"ls", int64(1), payload.M("__kwarg__", true, "cwd", "/")})
	if got != "ls 1 cwd=/" {
		t.Errorf("got %q", got)
	}
	if len(arguments([]any{strings.Repeat("é", 5000)})) > 4100 {
		t.Error("long arguments are not cut")
	}
}

func TestWays(t *testing.T) {
	us := func(n int64) *int64 { return &n }
	got := waysOf(control.Trace{Hops: []control.Hop{{Hop: "request", State: "done", AfterUS: us(0)},
		{Hop: "command", State: "untold"}, {Minion: "a", Hop: "receive", State: "late", AfterUS: us(9)},
		{Minion: "a", Hop: "start", State: "open"}, {Minion: "b", Hop: "arrive", State: "done", AfterUS: us(5)}}})
	if w := got["a"].(*Way); w.State != "late" || len(w.Hops) != 2 {
		t.Errorf("a: %+v", w)
	}
	if w := got["b"].(*Way); w.State != "returned" {
		t.Errorf("b: %+v", w)
	}
	if w := got[""].(*Way); len(w.Hops) != 1 {
		t.Errorf("master: %+v", w)
	}
}

// TestHear: events of the bus make a limited number of rows.
func TestHear(t *testing.T) {
	l := &jobList{known: map[string]*JobRow{}}
	for i := range maxJobs + 50 {
		jid := fmt.Sprintf("202611231334%08d", i)
		l.hear(heard{tag: "salt/job/" + jid + "/new", data: payload.M("fun", "test.ping", "tgt", []any{"a", "b"},
			"minions", []any{"a", "b"})})
		l.hear(heard{tag: "salt/job/" + jid + "/ret/a", data: payload.M()})
		l.hear(heard{tag: "salt/job/x/new", data: payload.M()})
	}
	l.trim()
	last := l.known[fmt.Sprintf("202611231334%08d", maxJobs+49)]
	if len(l.known) != maxJobs || last == nil || last.Returned != 1 || last.Tgt != "a,b" || last.State != stateRunning {
		t.Errorf("%d jobs, the last %+v", len(l.known), last)
	}
	l.hear(heard{tag: "salt/job/" + last.JID + "/ret/b", data: payload.M()})
	if last.State != stateDone {
		t.Errorf("all have returned: %+v", last)
	}
}

// messages reads a stream until enough returns true.
func messages(t *testing.T, url, user string, enough func(name string, data []byte) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(&http.Cookie{Name: "session_id", Value: user})
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	name := ""
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if n, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = n
		}
		if d, ok := strings.CutPrefix(lines.Text(), "data: "); ok && enough(name, []byte(d)) {
			return
		}
	}
	t.Fatalf("the stream has ended: %v", lines.Err())
}

// TestEventStream: events pass the filters, and a burst arrives in parts.
func TestEventStream(t *testing.T) {
	s, front := serve(t)
	const n = 300
	for i := range n {
		front.bus <- [2]any{"salt/x", payload.M("n", i)}
		front.bus <- [2]any{"other", payload.M()}
		front.bus <- [2]any{nudge, payload.M()}
	}
	seen := int64(0)
	messages(t, s.URL+"/console/api/stream?view=events&tag=salt/", "admin", func(name string, data []byte) bool {
		if name != "event" {
			return false
		}
		var list EventList
		if err := json.Unmarshal(data, &list); err != nil {
			t.Fatal(err)
		}
		for _, e := range list.Events {
			if e.Tag != "salt/x" {
				t.Errorf("tag %s", e.Tag)
			}
		}
		if len(list.Events) > maxEvents {
			t.Errorf("%d events at once", len(list.Events))
		}
		if list.Missed > 0 {
			t.Errorf("%d events of a burst were missed", list.Missed)
		}
		seen += int64(len(list.Events))
		return seen >= n
	})
}

// TestFleetStream: beside a Salt master the keys come from the wheel, with the user's token. A target leaves
// some of them out.
func TestFleetStream(t *testing.T) {
	s, front := serve(t)
	for target, want := range map[string]string{"": "accepted/web1 pending/<b>x</b> pending/web2",
		"web1": "accepted/web1"} {
		messages(t, s.URL+"/console/api/stream?view=fleet&tgt="+target, "admin", func(name string, data []byte) bool {
			if name != "rows" {
				return false
			}
			var p Patch
			if err := json.Unmarshal(data, &p); err != nil {
				t.Fatal(err)
			}
			for _, key := range strings.Fields(want) {
				if p.Set[key] == nil {
					t.Errorf("%q: no row %s in %s", target, key, data)
				}
			}
			return true
		})
		if low := <-front.calls; low.Str("token") != "token of admin" {
			t.Errorf("called %v", low)
		}
	}
}
