package master

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brine/wire/payload"
)

// changing is a master with pillar_cache whose pillars hold what a file says, and how that file is changed.
func changing(t *testing.T, more ...string) (r *rig, say func(text string)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "now")
	say = func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	say("1")
	tree := pillarTree(t, "top.sls", "base:\n  '*': [a]\n", "a.sls", "id: {{ grains.id }}\nnow: {{ "+
		"salt['cmd.run']('cat "+file+"') }}\nover: {{ pillar.get('over', 'none') }}\n", "dev/top.sls",
		"dev:\n  '*': [a]\n", "dev/a.sls", "dev: {{ grains.id }} {{ salt['cmd.run']('cat "+file+"') }}\n")
	dir := tree[len("pillar_roots: {base: [") : len(tree)-len("]}")]
	return newRig(t, append([]string{"pillar_roots: {base: [" + dir + "], dev: [" + dir + "/dev]}"}, more...)...), say
}

// TestPillarCache: a kept pillar is the answer until it is old, asked to be made anew, or not to be trusted.
func TestPillarCache(t *testing.T) {
	r, say := changing(t, "pillar_cache: True", "pillar_cache_ttl: 600")
	m1, m2 := r.minion("m1"), r.minion("m2")
	at := func(now any) *payload.Map {
		return payload.M("id", "m1", "now", now, "over", "none", "dev", fmt.Sprintf("m1 %v", now))
	}
	want := func(what string, m *testMinion, want *payload.Map, kv ...any) {
		t.Helper()
		got, err := m.pillar(append([]any{"pillarenv", "base"}, kv...)...)
		want = want.Clone()
		want.Delete("dev")
		wantPillar(t, what, got, err, want)
	}
	want("the first", m1, at(1))
	file := filepath.Join(r.cfg.CacheDir, "pillar", "m1:base.p")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("kept: %v, %v", info, err)
	}
	say("2")
	want("it is kept", m1, at(1))
	want("another minion's is not", m2, at(2).Set("id", "m2"))
	want("other grains", m1, at(1), "grains", payload.M("id", "m2", "role", "db"))
	want("an override goes over it", m1, at(1).Set("over", "mine").Set("more", 1), "pillar_override",
		payload.M("over", "mine", "more", 1))
	want("and is not kept", m1, at(1))
	want("with an external pillar", m1, at(2), "ext", payload.M("nodegroups", payload.M()))
	want("which is not kept", m1, at(1))
	got, err := m1.pillar("pillarenv", "dev")
	wantPillar(t, "another environment", got, err, payload.M("dev", "m1 2"))
	want("asked for anew", m1, at(2), "clean_cache", true)
	say("3")
	want("and kept", m1, at(2))
	for what, when := range map[string]time.Time{"an old one": time.Now().Add(-601 * time.Second),
		"one from the future": time.Now().Add(time.Hour)} {
		if err := os.Chtimes(file, when, when); err != nil {
			t.Fatal(err)
		}
		want(what, m1, at(3))
	}
	for _, bad := range []any{"a text", payload.M(), payload.M("_errors", []any{"x"}, "now", 9), []any{1}} {
		if err := r.m.stores.cache.Store("pillar", "m1:base", bad); err != nil {
			t.Fatal(err)
		}
		want("in place of a bad one", m1, at(3))
	}
	if err := os.WriteFile(file, []byte("\xc1\xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	want("in place of a damaged one", m1, at(3))
}

// TestPillarCacheOfOthers: no minion is answered with the pillar of one whose id is its own with an environment, and
// none poisons it.
func TestPillarCacheOfOthers(t *testing.T) {
	r, _ := changing(t, "pillar_cache: True")
	thief, m1 := r.minion("m1:dev"), r.minion("m1")
	got, err := thief.pillar()
	wantPillar(t, "the thief's own", got, err, payload.M("id", "m1:dev", "now", 1, "over", "none", "dev", "m1:dev 1"))
	if r.m.stores.cache.Contains("pillar", "m1:dev") {
		t.Error("the pillar of the thief stands where that of m1 would")
	}
	if got, err = m1.pillar("pillarenv", "dev"); err != nil || got.Str("dev") != "m1 1" {
		t.Errorf("m1 in dev: got %v, %v", got, err)
	}
	if err := r.m.stores.cache.StorePillar("m1", "dev", payload.M("secret", "of m1")); err != nil {
		t.Fatal(err)
	}
	if got, err = thief.pillar(); err != nil || got.Has("secret") {
		t.Errorf("the thief got %v, %v", got, err)
	}
	if got, err = m1.pillar("pillarenv", "dev"); err != nil || got.Has("secret") {
		t.Errorf("m1 got what may be another's: %v, %v", got, err)
	}
}

// TestPillarNotCached: without pillar_cache what is kept is no answer.
func TestPillarNotCached(t *testing.T) {
	r, say := changing(t)
	m1 := r.minion("m1")
	for now := range 3 {
		say(fmt.Sprint(now))
		got, err := m1.pillar("pillarenv", "base")
		wantPillar(t, "each time", got, err, payload.M("id", "m1", "now", now, "over", "none"))
	}
}
