//go:build interop

package sqlstore_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"brine/modules/modtest"
	"brine/wire/payload"
)

var record = flag.Bool("record", false, "write what Salt stores to testdata")

// salt calls functions of a returner of a Salt release.
func salt(t testing.TB, release, name string, opts *payload.Map, env []string, calls ...[]any) (results []any,
	seconds float64) {
	t.Helper()
	list := make([]any, len(calls))
	for i, c := range calls {
		list[i] = []any{c[0], c[1:]}
	}
	in, err := payload.MarshalBin(payload.M("name", name, "opts", opts, "calls", list))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), modtest.SaltProgram(t, release, "python"), "testdata/peer.py")
	cmd.Stdin, cmd.Stderr, cmd.Env = bytes.NewReader(in), os.Stderr, append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	m, err := payload.UnmarshalBinMap(out)
	if err != nil {
		t.Fatal(err)
	}
	seconds, _ = m.Value("seconds").(float64)
	return m.List("calls"), seconds
}

// given is what a call gave; an error ends the test.
func given(t testing.TB, result any) any {
	t.Helper()
	m := result.(*payload.Map)
	if m.Has("error") {
		t.Fatal(m.Value("error"))
	}
	return m.Value("return")
}

// saltStores holds the recorded rows to those that Salt writes now, or records them.
func saltStores(t *testing.T, release, name string, opts *payload.Map, env []string,
	row func(jid string) map[string]string) {
	t.Helper()
	var calls [][]any
	for _, c := range cases() {
		calls = append(calls, []any{"returner", c.ret})
	}
	results, _ := salt(t, release, name, opts, env, calls...)
	rows := recorded{}
	for i, c := range cases() {
		if got := row(c.ret.Str("jid")); got != nil {
			rows[c.name] = got
		} else {
			t.Logf("Salt does not store %q: %v", c.name, results[i])
		}
	}
	if *record {
		b, err := json.MarshalIndent(rows, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("testdata", name+".json"), append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := readRecorded(t, name)
	for _, c := range cases() {
		if len(rows[c.name]) != len(want[c.name]) {
			t.Errorf("%s: Salt stores %v, recorded are %v", c.name, rows[c.name], want[c.name])
		}
		for column, value := range want[c.name] {
			if rows[c.name][column] != value {
				t.Errorf("%s, %s: Salt stores %q, recorded is %q", c.name, column, rows[c.name][column], value)
			}
		}
	}
}

// saltReads lets Salt read what brine wrote, and the other way round.
func saltReads(t *testing.T, h *host, release, name string, opts *payload.Map, env []string) {
	t.Helper()
	load := payload.M("fun", "test.echo", "arg", []any{"ü", payload.M("__kwarg__", true, "a", int64(1))}, "tgt", "web*",
		"tgt_type", "glob", "user", "root")
	ret := func(id, jid, text string) *payload.Map {
		return payload.M("id", id, "jid", jid, "fun", "test.echo", "fun_args", []any{}, "return",
			payload.M("who", text, "n", []any{nil, true, 1.5}), "retcode", int64(0), "success", true)
	}
	brines, salts := ret("web1", "20261123101010000011", "brine ☃"), ret("web2", "20261123101010000012", "salt ☃")
	h.must(name+".save_load", "20261123101010000011", load)
	h.must(name+".returner", brines)
	wrote, _ := salt(t, release, name, opts, env, []any{"save_load", "20261123101010000012", load},
		[]any{"returner", salts})
	for _, r := range wrote {
		given(t, r)
	}
	asked := [][]any{{"get_load", "20261123101010000011"}, {"get_load", "20261123101010000012"},
		{"get_jid", "20261123101010000011"}, {"get_jid", "20261123101010000012"}, {"get_jids"}, {"get_minions"}}
	read, _ := salt(t, release, name, opts, env, asked...)
	for i, call := range asked {
		want := given(t, read[i])
		got := h.must(name+"."+call[0].(string), call[1:]...)
		same(t, call[0].(string), got, want)
		if m, ok := want.(*payload.Map); ok && m.Len() == 0 {
			t.Errorf("%v: nothing", call)
		}
	}
}

// drivers are the Python libraries that Salt's returners want (.ci/store-peers), as an environment.
func drivers(t testing.TB, release string) []string {
	t.Helper()
	cache := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(modtest.SaltProgram(t, release, "python")))))
	dir := filepath.Join(cache, "returners", "sql")
	if _, err := os.Stat(filepath.Join(dir, ".complete")); err != nil {
		t.Skip("no drivers of databases for Salt here (.ci/store-peers): ", err)
	}
	return []string{"PYTHONPATH=" + dir}
}
