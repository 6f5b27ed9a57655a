package admin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/cmd/tool"
	"brine/wire/control"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

func TestReactorText(t *testing.T) {
	now := time.Date(2026, 11, 23, 7, 0, 10, 0, time.UTC)
	for _, tt := range []struct {
		name string
		r    control.Reactor
		want string
	}{
		{"none", control.Reactor{}, "There is no Reactor: the option reactor names no rules, or a minion's engines " +
			"do not name it.\n"},
		{"rules", control.Reactor{Running: true, Leader: true, File: "/m", Events: 3, Reacted: 2, Calls: 4, Waiting: 1,
			WaitingBytes: 50, Failures: 1, LastError: "a\x1b[2J", LastErrorAt: "2026-11-23T07:00:00.000000Z",
			Rules: []control.ReactorRule{{Tag: "my/*", SLS: []string{"/a.sls", "/b.sls"}, Hits: 2, Calls: 4,
				Failures: 1, LastError: "bad", LastErrorAt: "2026-11-23T07:00:00.000000Z"},
				{Tag: "x", SLS: []string{"/c.sls"}}}},
			"TAG   FILES          HITS  CALLS  FAILURES  LAST ERROR\n" +
				"my/*  /a.sls /b.sls  2     4      1         10s ago: bad\n" +
				"x     /c.sls         0     0      0         -\n\n" +
				"rules: of /m\n" +
				"events: 3 wanted by a rule, 2 reacted to, 1 wait (50 bytes), 0 dropped; calls: 4 made, 0 in doubt; " +
				"failures: 1\n" +
				"last error, 10s ago: a [2J\n"},
	} {
		if diff := cmp.Diff(tt.want, reactorText(tt.r, now)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.name, diff)
		}
	}
}

func TestTrialText(t *testing.T) {
	got := trialText(control.ReactorTrial{Tag: "my/x", Leader: true,
		Rules: []control.ReactorRule{{Tag: "my/*", SLS: []string{"/a.sls"}}},
		Calls: []control.ReactorCall{{Kind: "local", ID: "a", SLS: "/a.sls", Fun: "test.arg", Tgt: "web1",
			Args: []any{"x"}, KW: payload.M("k", int64(1))}}, Log: []string{"ERROR no"}})
	want := "event my/x\nrule my/*: /a.sls\ncall local test.arg of a (/a.sls)\n  target: web1\n  arguments: " +
		"[\"x\"]\n  by name: {\"k\": 1}\nlog: ERROR no\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for part, r := range map[string]control.ReactorTrial{"No rule matches": {Leader: true}, "user: Reactor": {Own: true,
		Leader: true}, "another master leads": {}} {
		if got := trialText(r); !strings.Contains(got, part) {
			t.Errorf("got %q, want %q", got, part)
		}
	}
}

func TestReadEvent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "event.json")
	for text, want := range map[string]string{`{"tag": "a", "data": {"x": 1}}`: "a 1", `{"tag": "a"}`: "a 0",
		`{"data": {}}`: "", `[]`: "", `{`: "", `{"tag": 5}`: ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		tag, data, err := readEvent(&tool.Call{}, path)
		if want == "" {
			if err == nil {
				t.Errorf("%s: no error", text)
			}
			continue
		}
		if got := tag + map[int]string{0: " 0", 1: " 1"}[data.Len()]; err != nil || got != want {
			t.Errorf("%s: got %q, %v", text, got, err)
		}
	}
	if tag, _, err := readEvent(&tool.Call{Stdin: strings.NewReader(`{"tag": "in"}`)}, "-"); err != nil || tag != "in" {
		t.Errorf("got %q, %v", tag, err)
	}
}
