package pkg_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/modules/states/statetest"
	"brine/wire/payload"
	"brine/wire/python"
)

// grains are those of the host that the trees are of.
var grains = payload.M("grains", payload.M("osarch", "amd64", "cpuarch", "x86_64"))

// TestNamesStartNothing: what is no name of a package reaches neither apt nor dpkg, as an option, a removal, several
// words or another selection.
func TestNamesStartNothing(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"apt-get", "apt-cache", "apt-mark", "dpkg"} {
		script := "#!/bin/sh\nprintf '%s|' ${0##*/} \"$@\" >> " + bin + "/asked\ncat >> " + bin + "/asked\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	env, _ := statetest.Minion(t, payload.M("base/t.sls", ""), grains)
	for _, name := range []string{"-oDir::Etc=/x", "--root=/x", "lab-demo-", "lab-demo x", "lab-demo\nbash purge", ""} {
		for _, fun := range []string{"pkg.installed", "pkg.latest"} {
			v, _, err := modtest.Call(t, env, "state.single", []any{fun, "hostile"},
				payload.M("pkgs", []any{name, "lab-tool"}, "refresh", false))
			if text := resultText(v); err == nil && !strings.Contains(text, "False") {
				t.Errorf("%s of %q: %s", fun, name, text)
			}
		}
		for _, fun := range []string{"pkg.hold", "pkg.unhold", "pkg.install"} {
			if _, _, err := modtest.Call(t, env, fun, nil, payload.M("pkgs", []any{name})); err == nil {
				t.Errorf("%s of %q: no error", fun, name)
			}
		}
		if _, _, err := modtest.Call(t, env, "pkg.set_selections", nil,
			payload.M("selection", payload.M("hold", []any{name}))); err == nil {
			t.Errorf("set_selections of %q: no error", name)
		}
	}
	asked, err := os.ReadFile(filepath.Join(bin, "asked"))
	if text := string(asked); err == nil && (strings.Contains(text, "apt-get|") || strings.Contains(text, "--set-sel")) {
		t.Errorf("programs were asked: %q", asked)
	}
}

// resultText are the results of the states of a return.
func resultText(v any) string {
	var out []string
	ret, _ := v.(*payload.Map)
	for _, state := range ret.All() {
		m, _ := state.(*payload.Map)
		out = append(out, map[any]string{true: "True", false: "False"}[m.Value("result")])
	}
	return strings.Join(out, " ")
}

// TestAggregateKeepsItsOwn: the packages of a chunk stay its own when those of others come to it, with their versions.
func TestAggregateKeepsItsOwn(t *testing.T) {
	env, _ := statetest.Minion(t, payload.NewMap(0), grains)
	chunk := func(id string, more ...any) *payload.Map {
		m := payload.M("state", "pkg", "fun", "installed", "__id__", id, "name", id)
		m.Update(payload.M(more...))
		return m
	}
	low := chunk("a", "version", "1.0", "__agg__", true)
	chunks := []any{low, chunk("b"), chunk("c", "pkgs", []any{"b", payload.M("d", "2")}), chunk("e", "hold", true),
		chunk("f", "fromrepo", "x"), chunk("g", "version", "3")}
	f, ok := env.Registry.Program().States.Lookup("pkg.mod_aggregate")
	if !ok {
		t.Fatal("no mod_aggregate")
	}
	bound, err := loader.Bind(f, []any{low, chunks, payload.NewMap(0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := f.Run(loader.NewCall(t.Context(), env, f.Name, nil), bound)
	if err != nil {
		t.Fatal(err)
	}
	want := []any{payload.M("a", "1.0"), "b", payload.M("d", "2"), payload.M("g", "3")}
	if got := python.Repr(v.(*payload.Map).List("pkgs")); got != python.Repr(want) {
		t.Errorf("got %s, want %s", got, python.Repr(want))
	}
	if low.Has("version") {
		t.Error("the version is beside its package")
	}
}
