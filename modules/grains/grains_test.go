package grains_test

import (
	"os"
	"path/filepath"
	"testing"

	"brine/modules/all"
	"brine/modules/grains"
	"brine/wire/payload"
)

// conf writes a configuration directory with a static grains file and gives the path of the minion file.
func conf(t *testing.T, grains string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "grains"), []byte(grains), 0o644); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "minion")
}

// own are the grains of this program's modules.
func own(opt grains.Options) *grains.Collector { return grains.New(opt, all.Grains()) }

func TestPrecedence(t *testing.T) {
	opts := payload.M("id", "web1", "master", "salt", "conf_file", conf(t, "os: FromFile\nshell: overridden\nrole: "+
		"[a]\nid: filed\ndisks: [fake]\n"), "grains_blacklist", []any{"cpu*", "role"})
	c := own(grains.Options{Opts: opts, Static: payload.M("id", "configured", "nest", payload.M("k", "v")),
		Version: "3008.3"})
	all := c.Map()
	for key, want := range map[string]any{"id": "configured", "os": "FromFile", "saltversion": "3008.3",
		"master": "salt"} {
		if got, ok := c.Get(key); !ok || got != want || all.Value(key) != want {
			t.Errorf("%s: Get %v, Map %v, want %v", key, got, all.Value(key), want)
		}
	}
	for _, key := range []string{"cpu_model", "cpuarch", "role", "nosuch"} {
		if _, ok := c.Get(key); ok || all.Has(key) {
			t.Errorf("%s is there", key)
		}
	}
	if shell, _ := c.Get("shell"); shell == "overridden" || all.Value("shell") != shell {
		t.Errorf("shell %v: the file is read before it", shell)
	}
	for k, v := range all.All() {
		if got, ok := c.Get(k.(string)); !ok || !payload.Equal(got, v) {
			t.Errorf("%v: Get %v differs from Map %v", k, got, v)
		}
	}
}

// TestGetIsLazy: a grain computes its own group, and the static file where that may have it.
func TestGetIsLazy(t *testing.T) {
	ran := map[string]bool{}
	c := grains.New(grains.Options{Opts: payload.M("id", "web1"), Version: "3008.3"}, watched(ran))
	if len(ran) > 0 {
		t.Errorf("nobody asked, and it ran %v", ran)
	}
	c.Get("minion_blackout")
	if len(ran) != 1 || !ran["config"] {
		t.Errorf("an unknown grain ran %v", ran)
	}
	c.Get("os")
	if len(ran) != 2 || !ran["distro"] {
		t.Errorf("os ran %v", ran)
	}
}

// watched are the modules, whose groups note that they ran.
func watched(ran map[string]bool) []grains.Module {
	out := all.Grains()
	for i, m := range out {
		out[i].Groups = func(h *grains.Host) []grains.Group {
			groups := m.Groups(h)
			for j, g := range groups {
				groups[j].Run = func() *payload.Map {
					ran[g.Name] = true
					return g.Run()
				}
			}
			return groups
		}
	}
	return out
}

func TestDeepMerge(t *testing.T) {
	opts := payload.M("id", "web1", "conf_file", conf(t, "locale_info: {extra: 1}\n"), "grains_deep_merge", true)
	got := own(grains.Options{Opts: opts}).Map().Map("locale_info")
	if !got.Has("extra") || !got.Has("timezone") {
		t.Errorf("locale_info %v", got)
	}
	opts.Set("grains_deep_merge", false)
	if got := own(grains.Options{Opts: opts}).Map().Map("locale_info"); got.Len() != 1 {
		t.Errorf("not merged: %v", got)
	}
}

func TestCache(t *testing.T) {
	dir := t.TempDir()
	opts := payload.M("id", "web1", "cachedir", dir, "grains_cache", true)
	own(grains.Options{Opts: opts, Static: payload.M("role", "first")}).Map()
	fi, err := os.Stat(filepath.Join(dir, "grains.cache.p"))
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Fatalf("cache file: %v %v", fi, err)
	}
	if got := own(grains.Options{Opts: opts, Static: payload.NewMap(0)}).Map(); got.Str("role") != "first" {
		t.Errorf("the cache was not used: %v", got.Value("role"))
	}
	if got := own(grains.Options{Opts: opts, Refresh: true}).Map(); got.Has("role") {
		t.Error("the cache was used although a refresh was asked for")
	}
	own(grains.Options{Opts: opts, Static: payload.M("role", "first"), Refresh: true}).Map()
	opts.Set("grains_cache_expiration", int64(-1))
	if got := own(grains.Options{Opts: opts}).Map(); got.Has("role") {
		t.Error("an expired cache was used")
	}
}

func TestSkip(t *testing.T) {
	c := own(grains.Options{Opts: payload.M("id", "web1", "skip_grains", true)})
	if c.Map().Len() != 0 {
		t.Error("grains although they are to be skipped")
	}
}

func TestBrokenFile(t *testing.T) {
	c := own(grains.Options{Opts: payload.M("id", "web1", "conf_file", conf(t, "a: [\n"))})
	if v, ok := c.Get("id"); !ok || v != "web1" {
		t.Errorf("id %v", v)
	}
}

func BenchmarkMap(b *testing.B) {
	for b.Loop() {
		own(grains.Options{Opts: payload.M("id", "web1"), Version: "3008.3"}).Map()
	}
}

func BenchmarkGetOS(b *testing.B) {
	for b.Loop() {
		own(grains.Options{Opts: payload.M("id", "web1"), Version: "3008.3"}).Get("os")
	}
}
