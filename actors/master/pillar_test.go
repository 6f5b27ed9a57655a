package master

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/actors/master/targets"
	"brine/modules/fleet/datacache"
	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/payload"
)

// pillarTree makes pillar_roots of files, by their paths, and returns its line of the configuration.
func pillarTree(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return "pillar_roots: {base: [" + dir + "]}"
}

const smallTree = "base:\n  '*': [a]\n  'G@role:db': [db]\n"

// pillar asks for the pillar of this minion.
func (m *testMinion) pillar(kv ...any) (*payload.Map, error) {
	m.r.t.Helper()
	load := cmd("_pillar", "grains", payload.M("os", "Debian"), "saltenv", nil, "pillarenv", nil, "pillar_override",
		payload.NewMap(0), "extra_minion_data", payload.NewMap(0), "ver", "2")
	load.Update(payload.M(kv...))
	frame, nonce, err := m.Seal(load)
	if err != nil {
		m.r.t.Fatal(err)
	}
	return m.OpenPillar(m.do(frame), nonce)
}

func wantPillar(t *testing.T, what string, got *payload.Map, err error, want *payload.Map) {
	t.Helper()
	if err != nil || !got.Equal(want) {
		t.Errorf("%s: got %v, %v, want %v", what, got, err, want)
	}
}

// TestPillar: each gets its own, by its id and its grains, and can be targeted by it.
func TestPillar(t *testing.T) {
	r := newRig(t, pillarTree(t, "top.sls", smallTree, "a.sls", "id: {{ grains.id }}\nos: {{ "+
		"salt['grains.get']('os') }}\n", "db.sls", "role: db\n"))
	m1, m2 := r.minion("m1"), r.minion("m2")
	got, err := m1.pillar()
	wantPillar(t, "m1", got, err, payload.M("id", "m1", "os", "Debian"))
	got, err = m2.pillar("grains", payload.M("os", "Suse", "role", "db", "id", "m1"), "id", "m2")
	wantPillar(t, "m2", got, err, payload.M("id", "m2", "os", "Suse", "role", "db"))
	r.eventually("the pillar is kept", func() error {
		kept, err := r.m.stores.cache.Data(datacache.BankPillar, "m2")
		if err != nil || kept.Str("role") != "db" {
			return fmt.Errorf("got %v, %v", kept, err)
		}
		return nil
	})
	if found, _ := r.m.core.targets.Meant(t.Context(), "role:db", "pillar", targets.DefaultDelimiter,
		false); len(found.Minions) != 1 || found.Minions[0] != "m2" {
		t.Errorf("pillar target finds %v", found)
	}
}

// TestPillarOfOthers: nobody gets the pillar of another one, and nobody chooses by which pillar it is targeted.
func TestPillarOfOthers(t *testing.T) {
	r := newRig(t, pillarTree(t, "top.sls", "base:\n  m1: [secret]\n  '*': [a]\n", "secret.sls", "secret: of m1\n",
		"a.sls", "a: 1\n", "a/b.sls", "b: 1\n"))
	r.minion("m1")
	thief := r.minion("m2")
	if got, err := thief.pillar("id", "m1"); err == nil && got.Has("secret") {
		t.Errorf("with another id: got %v", got)
	}
	got, err := thief.pillar("grains", payload.M("id", "m1", "nodename", "m1"))
	wantPillar(t, "grains of another", got, err, payload.M("a", 1))
	for _, env := range []string{"../..", "..", "/", "base/../..", "nosuch", "a\x00b"} {
		got, err = thief.pillar("pillarenv", env, "saltenv", env)
		wantPillar(t, "environment "+env, got, err, payload.NewMap(0))
	}
	if got, err := thief.pillar("pillarenv", strings.Repeat("x", 5000)); err == nil && got.Len() > 0 {
		t.Errorf("a long environment: got %v", got)
	}
	got, err = thief.pillar()
	wantPillar(t, "its own", got, err, payload.M("a", 1))
	big := strings.Repeat("x", 1<<20)
	got, err = thief.pillar("pillar_override", payload.M("role", "db", "big", big))
	wantPillar(t, "a large override", got, err, payload.M("role", "db", "big", big, "a", 1))
	if _, err = thief.pillar("ext", payload.M("cmd_yaml", "echo 'x: 1'")); err != nil {
		t.Error(err)
	}
	for _, odd := range []any{7, []any{"x"}, "text", nil, payload.M("a", nil)} {
		if _, err := thief.pillar("pillar_override", odd, "extra_minion_data", odd, "ext", odd); err != nil {
			t.Errorf("override %v: %v", odd, err)
		}
	}
	kept, err := r.m.stores.cache.Data(datacache.BankPillar, "m2")
	wantPillar(t, "kept", kept, err, payload.M("a", 1))
	entries, err := os.ReadDir(filepath.Join(r.cfg.CacheDir, "pillar"))
	if len(entries) == 0 {
		t.Errorf("nothing is kept, %v", err)
	}
	for _, e := range entries {
		if e.Name() != "m2.p" && e.Name() != "m1.p" {
			t.Errorf("kept in %s, %v", e.Name(), err)
		}
	}
}

// TestPillarHangs: an external pillar that hangs delays nobody else, and its own minion is answered by the deadline.
func TestPillarHangs(t *testing.T) {
	r := newRig(t, pillarTree(t, "top.sls", smallTree, "a.sls", "{% if grains.id.startswith('slow') %}{{ "+
		"salt['cmd.run']('sleep 300') }}{% endif %}\nid: {{ grains.id }}\n"),
		"request_timeout: 5")
	var slow []*testMinion
	for i := range 12 {
		slow = append(slow, r.minion(fmt.Sprintf("slow%d", i)))
	}
	fast := r.minion("fast")
	var done sync.WaitGroup
	begin := time.Now()
	for _, m := range slow {
		done.Go(func() {
			if got, err := m.pillar(); err == nil {
				t.Errorf("it got %v", got)
			}
		})
	}
	for range 3 {
		got, err := fast.pillar()
		wantPillar(t, "another minion", got, err, payload.M("id", "fast"))
	}
	done.Wait()
	if spent := time.Since(begin); spent > patience/2 {
		t.Errorf("it took %s", spent)
	}
}

// TestPillarComesBack kills the Pillar while it compiles: who waits is answered by its successor.
func TestPillarComesBack(t *testing.T) {
	dir := t.TempDir()
	r := newSite(t, pillarTree(t, "top.sls", smallTree, "a.sls",
		"{{ salt['cmd.run']('touch "+dir+"/begun; while ! test -e "+dir+
			"/go; do sleep 0.05; done', python_shell=True) }}\nid: {{ grains.id }}\n"), "chaos: True")
	r.faulty = true
	r.start()
	m := r.minion("m1")
	var done sync.WaitGroup
	done.Go(func() {
		got, err := m.pillar()
		wantPillar(t, "after the death", got, err, payload.M("id", "m1"))
	})
	begun := func() error { _, err := os.Stat(dir + "/begun"); return err }
	r.eventually("it is begun", begun)
	if err := os.Remove(dir + "/begun"); err != nil {
		t.Fatal(err)
	}
	if err := r.m.Supervisor().Inject("Pillar", supervisor.FaultPanic); err != nil {
		t.Fatal(err)
	}
	r.eventually("it is begun anew", begun)
	back := 0
	r.tree(func(c stats.Child) {
		if c.Name == "Pillar" {
			back = c.Incarnation
		}
	})
	if back != 2 {
		t.Errorf("incarnation %d", back)
	}
	if err := os.WriteFile(dir+"/go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	done.Wait()
}
