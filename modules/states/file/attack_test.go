package file_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/modtest"
	"brine/modules/states/file/accumulator"
	"brine/modules/states/statetest"
	"brine/wire/payload"
	"brine/wire/python"
)

// applied applies an SLS, and gives the returns by ID.
func applied(t *testing.T, sls string, files ...any) (map[string]*payload.Map, string) {
	t.Helper()
	env, dir := statetest.Minion(t, payload.M(append([]any{"base/t.sls", sls}, files...)...), nil)
	v, _, err := modtest.Call(t, env, "state.apply", []any{"t"}, nil)
	ret, ok := v.(*payload.Map)
	if err != nil || !ok {
		t.Fatalf("%v, %v", v, err)
	}
	out := map[string]*payload.Map{}
	for _, r := range ret.All() {
		out[r.(*payload.Map).Str("__id__")] = r.(*payload.Map)
	}
	return out, dir
}

// TestWrongHash: a template from elsewhere with another content than its hash says changes nothing, and nothing of it
// stays.
func TestWrongHash(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("evil\n"))
	}))
	t.Cleanup(server.Close)
	var sls strings.Builder
	for _, fun := range []string{"append", "prepend", "blockreplace"} {
		sls.WriteString(fun + ":\n  file." + fun + ":\n    - name: ROOT/w/f\n    - source: " + server.URL +
			"/x\n    - source_hash: " + strings.Repeat("f", 64) + "\n")
	}
	got, dir := applied(t, sls.String(), "w/f", "#-- start managed zone --\n#-- end managed zone --\n")
	for fun, ret := range got {
		if ret.Value("result") != false || !strings.Contains(ret.Str("comment"), server.URL+"/x (fff") {
			t.Errorf("%s: %s", fun, python.Repr(ret))
		}
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil || strings.Contains(string(data), "evil") {
				t.Errorf("%s has what came, %v", path, err)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAccumulatedGoes: the texts of a run go with it.
func TestAccumulatedGoes(t *testing.T) {
	t.Parallel()
	got, dir := applied(t, `
block:
  file.blockreplace:
    - name: ROOT/w/f
    - append_if_not_found: True
secret:
  file.accumulated:
    - filename: ROOT/w/f
    - text: hidden
    - require_in:
      - file: block
`, "w/f", "")
	if got["block"].Value("result") != true {
		t.Errorf("the block: %s", python.Repr(got["block"]))
	}
	if data, err := os.ReadFile(dir + "/w/f"); err != nil || !strings.Contains(string(data), "hidden") {
		t.Errorf("the block: %q, %v", data, err)
	}
	if left, err := filepath.Glob(dir + "/cache/accumulator/*"); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestAccumulatorPaths: the name of a run leads nowhere else, and nobody else can read its texts.
func TestAccumulatorPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/kept", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, run := range []string{"../kept", "", "..", "a/b"} {
		texts, err := accumulator.Load(dir, run)
		if err != nil {
			t.Fatal(err)
		}
		if !texts.Add("f", "n", []any{"a", "b", "a"}, []any{"id"}) || texts.Save() != nil {
			t.Error("nothing was added")
		}
		entries, err := os.ReadDir(dir + "/accumulator")
		if err != nil || len(entries) != 1 {
			t.Fatalf("%v, %v", entries, err)
		}
		if info, err := entries[0].Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("it has %s, %v", info.Mode(), err)
		}
		if info, err := os.Stat(dir + "/accumulator"); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("its folder has %s, %v", info.Mode(), err)
		}
		if texts, err = accumulator.Load(dir, run); err != nil || python.Repr(texts.For("f", "id")) != "['a', 'b']" {
			t.Errorf("%q: %v, %v", run, texts.For("f", "id"), err)
		}
		if err := accumulator.Forget(dir, run); err != nil {
			t.Error(err)
		}
	}
	if left, err := filepath.Glob(dir + "/*/*"); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := os.Stat(dir + "/kept"); err != nil {
		t.Error(err)
	}
}

// TestCatastrophe: a pattern that has more ways than there is time ends the state, and not the minion.
func TestCatastrophe(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes as long as a pattern may")
	}
	text := strings.Repeat("a", 3000) + "!\n"
	got, dir := applied(t, `
slow:
  file.replace:
    - name: ROOT/w/f
    - pattern: '^(a+)+\1$'
    - repl: b
`, "w/f", text)
	if ret := got["slow"]; ret.Value("result") != false || !strings.Contains(ret.Str("comment"), "timeout") {
		t.Errorf("it is %s", python.Repr(ret))
	}
	if data, err := os.ReadFile(dir + "/w/f"); err != nil || string(data) != text {
		t.Errorf("the file has changed, %v", err)
	}
}
