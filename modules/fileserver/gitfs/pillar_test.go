package gitfs_test

import (
	"encoding/json"

	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/fileserver/gitfs"
	"brine/modules/pillar"
	"brine/modules/renderers/saltyaml"
	"brine/wire/payload"
	"brine/wire/python"
)

// load reads JSON, which is YAML too, with the folder of the repositories filled in.
func load(t *testing.T, raw []byte) *payload.Map {
	t.Helper()
	repos, err := filepath.Abs("testdata/pillar_repos")
	if err != nil {
		t.Fatal(err)
	}
	v, err := saltyaml.Load(strings.ReplaceAll(string(raw), "@REPOS@", repos))
	if err != nil {
		t.Fatal(err)
	}
	return v.(*payload.Map)
}

// TestSaltPillar compiles what real Salt has compiled (testdata/pillar_cases.py).
func TestSaltPillar(t *testing.T) {
	raw, err := os.ReadFile("testdata/pillar_cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name            string
		Opts, Ask, Want json.RawMessage
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			opts, ask, want := load(t, c.Opts), load(t, c.Ask), load(t, c.Want)
			opts.Set("cachedir", t.TempDir()).Set("pillar_roots", payload.M("base", []any{}))
			log := func(_ slog.Level, text string) { t.Log(text) }
			git, err := gitfs.NewPillars(opts, log)
			if err != nil {
				t.Fatal(err)
			}
			if err := git.Update(t.Context()); err != nil {
				t.Fatal(err)
			}
			id := ask.Str("id")
			if id == "" {
				id = "m1"
			}
			got, err := pillar.New(pillar.Options{Opts: opts, Git: git, Log: log}).Compile(t.Context(),
				pillar.Question{ID: id, Grains: payload.M("id", id), Saltenv: ask.Value("saltenv"),
					Pillarenv: ask.Value("pillarenv")})
			if err != nil {
				t.Fatal(err)
			}
			if g, w := python.Repr(got), python.Repr(want); g != w { // the order of keys too
				t.Errorf("got  %s\nwant %s", g, w)
			}
		})
	}
}
