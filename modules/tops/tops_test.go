package tops

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// recorded is testdata/salt3008.json (testdata/generate.py).
func recorded(t *testing.T, part string) []any {
	t.Helper()
	raw, err := os.ReadFile("testdata/salt3008.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := pyjson.Load(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	rows := v.(*payload.Map).List(part)
	if len(rows) < 20 {
		t.Fatalf("%d rows are too few", len(rows))
	}
	return rows
}

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "command")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func of(t *testing.T, command, id string) (*payload.Map, error) {
	t.Helper()
	tops, err := New(payload.M("ext_nodes", command))
	if err != nil {
		t.Fatal(err)
	}
	return tops.Of(t.Context(), id)
}

// TestAnswersAsSalt: the same states for the same answers; what ends Salt's function is an error here.
func TestAnswersAsSalt(t *testing.T) {
	for _, row := range recorded(t, "answers") {
		text, want := row.([]any)[0].(string), payload.NewMap(0)
		for _, pair := range row.([]any)[1].([]any) {
			want.Set(pair.([]any)[0], pair.([]any)[1])
		}
		got, err := of(t, script(t, "cat <<'END'\n"+text+"\nEND"), "web1")
		if err != nil {
			got = payload.NewMap(0)
		}
		if !got.Equal(want) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
}

// TestWordsAsSalt: the command gets the same words, quotes of Salt included.
func TestWordsAsSalt(t *testing.T) {
	words := script(t, `echo "classes:"`+"\n"+`for w in "$@"; do printf "  - |-\n    %s\n" "$w"; done`)
	for _, row := range recorded(t, "words") {
		row := row.([]any)
		got, err := of(t, words+row[0].(string), row[1].(string))
		if want := payload.M("base", row[2]); err != nil || !got.Equal(want) {
			t.Errorf("%v: got %v, %v, want %v", row[:2], got, err, want)
		}
	}
}

// TestAttacks: no id is an option or a command, no program runs for ever or fills the memory, and no more than a few
// run.
func TestAttacks(t *testing.T) {
	proof := filepath.Join(t.TempDir(), "proof")
	for _, id := range []string{"; touch " + proof, "$(touch " + proof + ")", "`touch " + proof + "`",
		"'; touch " + proof + " '", "x\ntouch " + proof} {
		if _, err := of(t, script(t, "echo 'classes: []'"), id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := os.Stat(proof); err == nil {
			t.Fatalf("%q ran a command", id)
		}
	}
	if _, err := of(t, script(t, "echo 'classes: []'"), "--help"); err == nil {
		t.Error("an option as an id is no error")
	}
	if _, err := of(t, script(t, "head -c 20000000 /dev/zero"), "web1"); err == nil || !strings.Contains(err.Error(),
		"writes more") {
		t.Errorf("much output: %v", err)
	}
	if _, err := of(t, script(t, "echo 'classes: [a]'; exit 3"), "web1"); err == nil || !strings.Contains(err.Error(),
		"exit status 3") {
		t.Errorf("a failure: %v", err)
	}
	if _, err := of(t, filepath.Join(t.TempDir(), "none"), "web1"); err == nil {
		t.Error("a command that is not there is no error")
	}
	tops, err := New(payload.M("ext_nodes", script(t, "exec sleep 300")))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	ended := make(chan error, 2*atOnce)
	for range 2 * atOnce {
		go func() {
			_, err := tops.Of(ctx, "web1")
			ended <- err
		}()
	}
	for range 2 * atOnce {
		if err := <-ended; err == nil {
			t.Error("a program that hangs gave an answer")
		}
	}
}

// TestRefused: what is not there is named, and nothing is configured by mistake.
func TestRefused(t *testing.T) {
	for want, option := range map[string]*payload.Map{
		"names cobbler, saltclass": payload.M("saltclass", payload.M("path", "/x"), "ext_nodes", "x", "cobbler", nil),
		"names ext_node:":          payload.M("ext_node", "x"), "ext_nodes is 7": payload.M("ext_nodes", 7),
		`ext_nodes is "it's"`: payload.M("ext_nodes", "it's"), "ext_nodes is ' '": payload.M("ext_nodes", " "),
	} {
		if _, err := New(option); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %s", option, err, want)
		}
	}
	for _, option := range []*payload.Map{nil, payload.NewMap(0), payload.M("ext_nodes", nil),
		payload.M("ext_nodes", "")} {
		tops, err := New(option)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tops.Of(t.Context(), "web1"); err != nil || got.Len() > 0 {
			t.Errorf("%v: got %v, %v", option, got, err)
		}
	}
}
