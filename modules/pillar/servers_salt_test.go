//go:build interop

package pillar

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/modtest"
	"brine/modules/outputters"
	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// besideSalt asks the servers of a table by Salt, too. What brine is wanted to answer is what Salt answers.
func besideSalt(t *testing.T, release string, table []asked, ids []string, path string, opts *payload.Map,
	place string) {
	t.Helper()
	var questions []any
	for _, tt := range table {
		ext, err := pyjson.Load(strings.ReplaceAll(tt.ext, "$S", place))
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			questions = append(questions, payload.M("ext", ext, "id", id, "opts", opts, "grains",
				payload.M("g", "a b")))
		}
	}
	in, _ := outputters.DumpJSON(questions, outputters.JSONOptions{})
	cmd := exec.CommandContext(t.Context(), modtest.SaltProgram(t, release, "python"), "external.py")
	cmd.Dir, cmd.Stdin = "testdata", strings.NewReader(in)
	cmd.Env = append(cmd.Environ(), "PYTHONPATH="+path, "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	lines.Buffer(nil, 1<<20)
	for _, tt := range table {
		var all []string
		for range ids {
			var one string
			if !lines.Scan() {
				t.Fatal("Salt has not answered all")
			}
			if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
				t.Fatal(err)
			}
			all = append(all, one)
		}
		got, want := strings.Join(all, "\n"), tt.want
		if len(ids) > 1 { // a line each
			want = strings.Join(strings.Split(want, "\n")[:len(ids)], "\n")
		}
		switch got = strings.ReplaceAll(got, place, "$S"); {
		case got == want && tt.differ != "":
			t.Errorf("%s: it does not differ any more", tt.ext)
		case got != want && tt.differ == "":
			t.Errorf("%s\n Salt %s\nbrine %s", tt.ext, got, want)
		}
	}
}

// drivers are Python libraries of databases (.ci/store-peers).
func drivers(t *testing.T, name string) string {
	t.Helper()
	cache := modtest.SaltProgram(t, "3008", "python")
	for range 4 {
		cache = filepath.Dir(cache)
	}
	dir := filepath.Join(cache, "returners", name)
	if _, err := os.Stat(filepath.Join(dir, ".complete")); err != nil {
		t.Skip("no libraries for Salt here (.ci/store-peers): ", err)
	}
	return dir
}

// TestServersBesideSalt: the recorded answers are Salt's.
func TestServersBesideSalt(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		opts := startPostgres(t)
		besideSalt(t, "3008", askedOf(t, "postgres"), []string{"web1"}, drivers(t, "sql"), opts,
			opts.Map("postgres").Str("host"))
	})
	t.Run("redis", func(t *testing.T) {
		opts := startRedis(t)
		// sets have no order in Salt
		besideSalt(t, "3006", askedOf(t, "redis"), redisIDs[:len(redisIDs)-1], drivers(t, "3006"), opts, "$S")
	})
	t.Run("web", func(t *testing.T) {
		besideSalt(t, "3007", askedOf(t, "web"), []string{"web1"}, "", payload.M("grains", payload.M("g", "a b")),
			startWeb(t))
	})
}
