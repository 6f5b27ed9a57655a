package admin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"brine/supervisor/stats"
	"brine/wire/client"
	"brine/wire/payload"
)

var noon = time.Date(2024, 5, 17, 12, 0, 0, 0, time.UTC)

func wantAll(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Errorf("a control character is shown: %q", text)
	}
}

// TestDocsNameTheFields: docs/admin.md names every field that a program gets about an actor.
func TestDocsNameTheFields(t *testing.T) {
	doc, err := os.ReadFile("../../docs/admin.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range (stats.Child{}).Map().Keys() {
		if !strings.Contains(string(doc), "`"+k.(string)+"`") {
			t.Errorf("docs/admin.md does not name %s", k)
		}
	}
	for _, m := range []*payload.Map{stats.Death{}.Map(), stats.Slow{}.Map(), stats.Quarantined{}.Map(),
		stats.Spread{}.Map()} {
		for _, k := range m.Keys() {
			if !strings.Contains(string(doc), k.(string)) {
				t.Errorf("docs/admin.md does not name %s", k)
			}
		}
	}
}

func TestHistoryText(t *testing.T) {
	death := stats.Death{Time: noon.Add(-time.Minute), Path: "master/A", Reason: "disk\x1b[2J full",
		Message: "*master.Work", Stack: "main.f()\n\tmain.go:7\n"}
	list := stats.List([]stats.Death{death})
	wantAll(t, historyText(list, false, noon), "master/A  1m00s ago: disk [2J full (on master.Work)\n")
	wantAll(t, historyText(list, true, noon), "    main.f()\n    \tmain.go:7\n")
	wantAll(t, historyText(nil, true, noon), "No actor has died.\n")
	other := stats.Death{Path: "master/B/A2"}
	all := stats.List([]stats.Death{death, other})
	for name, want := range map[string]int{"A": 1, "master/A": 1, "B/A2": 1, "2": 0, "master": 0} {
		if got := len(ofActor(all, name)); got != want {
			t.Errorf("%s: %d deaths, want %d", name, got, want)
		}
	}
}

func TestFindActor(t *testing.T) {
	leaf := payload.M("name", "b", "path", "web1/a/b")
	root := payload.M("name", "web1", "path", "web1", "children",
		[]any{payload.M("name", "a", "path", "web1/a", "children", []any{leaf})})
	for path, want := range map[string]string{"": "web1", "web1": "web1", "a": "web1/a", "a/b": "web1/a/b",
		"web1/a/b": "web1/a/b", "b": "", "a/c": ""} {
		if got := findActor(root, path).Str("path"); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
	renameRoot(root, "web1", "db1")
	if leaf.Str("path") != "db1/a/b" {
		t.Errorf("renamed: %s", leaf.Str("path"))
	}
}

func TestJobsText(t *testing.T) {
	job := payload.M("jid", "20240517120000000000", "since", stats.Stamp(noon.Add(-3*time.Second)), "fun",
		[]any{"test.ping", "test.echo"}, "tgt", []any{"a", "b"}, "tgt_type", "list", "user", "root", "minions", 7,
		"returned", 1, "outstanding", 6, "waiting_for", []any{"a", "b", "c\x1b[2J", "d", "e", "f"})
	text := masterJobsText(payload.M("jobs", []any{job}, "whole", false, "runners",
		[]any{payload.M("jid", "1", "fun", "runner.jobs.active", "user", "root")}), 60, noon)
	wantAll(t, text, "20240517120000000000  3s   ['test.ping', 'test.echo']  a, b    root  1 of 7    a, b, c [2J, d "+
		"and 2 more\n", "There are more jobs", "runner.jobs.active")
	wantAll(t, masterJobsText(payload.M("whole", true), 5, noon), "No job of the last 5 minutes waits for returns.\n")
	questions := []any{payload.M("fun", "saltutil.find_job"), payload.M("fun", "brine.actors"),
		payload.M("fun", "test.ping")}
	if left := withoutQuestions(questions); len(left) != 1 {
		t.Errorf("left %v", left)
	}
	text = minionJobsText(payload.M("most", 1, "running", []any{payload.M("jid", "1", "fun", "test.sleep", "user",
		"root", "since", stats.Stamp(noon))}, "queued", []any{payload.M("jid", "2", "fun", "test.ping", "user", "root",
		"place", 1)}, "returns", []any{payload.M("jid", "3", "master", "m", "bytes", 2048, "since",
		stats.Stamp(noon.Add(-time.Hour)))}), noon)
	wantAll(t, text, "1    running          0s   test.sleep  root\n", "2    queued, place 1  -    test.ping   root\n",
		"1 jobs at once (process_count_max).\n", "3          1h00m  2.0 kB  m\n")
	wantAll(t, minionJobsText(payload.M(), noon), "No job runs or waits.\nThe masters have all returns.\n")
	if got := targetText(payload.M("tgt", "os:Debian", "tgt_type", "grain")); got != "grain os:Debian" {
		t.Errorf("target %q", got)
	}
}

// TestFrame: a frame fits on the screen.
func TestFrame(t *testing.T) {
	text := "one\ntwo is long\nthree\nfour\n"
	if got, want := frame(text, 5, 10, true), termWipe+termHome+"one\x1b[K\r\ntwo "+
		"i\x1b[K\r\nthree\x1b[K\r\nfour\x1b[K\r\n\x1b[J"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, want := frame(text, 80, 4, false), termHome+"one\x1b[K\r\ntwo is long\x1b[K\r\n... 2 more "+
		"lines\x1b[K\r\n\x1b[J"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestWrapped: reasons can be read on a narrow screen, too.
func TestWrapped(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"short\n", "short\n"},
		{"web1: it has been running\nb\n", "web1: it\n  has been\n  running\nb\n"},
		{"0123456789abcdef", "0123456789\n  abcdef\n"},
		{"grün grün grün", "grün grün\n  grün\n"},
	} {
		if got := wrapped(tt.text, 10); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
	for width := 1; width < 12; width++ {
		wrapped("0123456789 abc def", width) // the call must end
	}
}

// TestProcessState: the name of a process may contain any characters.
func TestProcessState(t *testing.T) {
	for stat, want := range map[string]byte{"7 (salt-master) T 1 7": 'T', "7 (a) R (b) S 1": 'S', "": 0, "7 (x)": 0} {
		if got := processState([]byte(stat)); got != want {
			t.Errorf("%q: got %q", stat, got)
		}
	}
}

func TestReadSeconds(t *testing.T) {
	for text, ok := range map[string]bool{"1": true, "0.5": true, "0": false, "-1": false, "x": false, "1h": false,
		"": false, "1e9": false} {
		if _, err := readSeconds(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestWhyNoTree(t *testing.T) {
	for s, want := range map[client.Silence]string{client.NotConnected: "not connected",
		client.Unknown: "no such minion", client.NoResponse: "no answer"} {
		if got := silenceText(s); got != want {
			t.Errorf("%v: %q", s, got)
		}
	}
}

// TestBundleFiles: values become JSON, bytes stay as they are, trees are also shown as text, and the archive
// yields all files again.
func TestBundleFiles(t *testing.T) {
	tree := stats.Child{Name: "master", Path: "master", State: stats.StateRunning, Since: noon,
		Children: []stats.Child{{Name: "A", PID: "A#1"}}}.Map()
	answer := payload.M("tree", tree, "limits.txt", []byte("limit"), "config", payload.M("user", "root"), "errors",
		[]any{}, "tops", []any{payload.M("time", stats.Stamp(noon), "process", payload.M("pid", 7), "tree", tree),
			payload.M("time", "soon")})
	var packed bytes.Buffer
	if err := writeBundle(&packed, bundleFiles(answer), noon); err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(&packed)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for r := tar.NewReader(zip); ; {
		head, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil || head.Mode != 0o600 {
			t.Errorf("%s: mode %o, %v", head.Name, head.Mode, err)
		}
		got[strings.TrimPrefix(head.Name, "brine-20240517-120000/")] = string(b)
	}
	for name, want := range map[string]string{"limits.txt": "limit", "config.json": `"user": "root"`,
		"errors.json": "[]", "tree.json": `"name": "master"`, "tree.txt": "└─ A",
		"tops.txt": "2024-05-17 12:00:00 UTC  up 0s  pid 7", "tops.json": `"soon"`} {
		if !strings.Contains(got[name], want) {
			t.Errorf("%s: no %q in %q", name, want, got[name])
		}
	}
	if len(got) != 7 {
		t.Errorf("files %v", got)
	}
}
