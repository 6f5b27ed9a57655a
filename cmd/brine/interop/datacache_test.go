//go:build interop

package interop

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// dataCommands are commands of salt-run about the master's data of minions.
var dataCommands = [][]string{
	{"cache.grains", "*"},
	{"cache.pillar"},
	{"cache.mine", "tgt=m1"},
	{"pillar.show_pillar", "m1"},
	{"manage.present"},
	{"mine.get", "*", "test.arg_clean,test.ping"},
}

// dataFleet starts a master with two brine minions, whose grains, pillars and mines it stores.
func dataFleet(t *testing.T, master, release string) *fleet {
	t.Helper()
	f := newFleet(t, master, brine, map[string]string{"m1": brine, "m2": brine}, plain)
	f.write(f.masterPath("pillar/roles.sls"), "role: {{ grains['role'] }} of {{ grains['id'] }}\nsecret: s3cret\n")
	if master == brine {
		f.configMaster(fleetMaster + framing(release) + fmt.Sprintf("pillar_roots:\n  base:\n    - %s\n",
			f.masterPath("pillar")))
	}
	f.startAll()
	f.acceptAll()
	f.expect(brine, true, f.ids, "*", "saltutil.refresh_pillar", "wait=True")
	f.expect(brine, true, f.ids, "*", "mine.send", "test.ping")
	f.expect(brine, true, f.ids, "*", "mine.send", "test.arg_clean", "a", "k=1")
	return f
}

// alike runs salt-run of brine and of a release. Both must find the same data, and not nothing.
func (f *fleet) alike(release string) {
	f.t.Helper()
	for _, words := range dataCommands {
		f.tools = release
		f.sameOutput("salt-run", append([]string{"--out=json"}, words...)...)
	}
	for _, tt := range []struct {
		words []string
		part  string
	}{
		{[]string{"cache.grains", "m1"}, `"role": "web"`}, {[]string{"cache.pillar", "m1"}, `"secret": "s3cret"`},
		{[]string{"pillar.show_pillar", "m1"}, `"role": "web of m1"`}, {[]string{"manage.present"}, `"m1"`},
		{[]string{"mine.get", "m1", "test.ping"}, `"m1": true`},
	} {
		if err := contains(f.mustRun(brine, "salt-run", append([]string{"--out=json"}, tt.words...)...).stdout,
			tt.part); err != nil {
			f.t.Errorf("%q: %v", tt.words, err)
		}
	}
}

// kept lists the files of the data cache that belong to a minion.
func (f *fleet) kept(id string) (found []string) {
	f.t.Helper()
	for _, pattern := range []string{"grains/" + id + "*", "pillar/" + id + "*", "mine/" + id + "*",
		"minions/" + id + "/*"} {
		files, err := filepath.Glob(filepath.Join(f.masterPath("var/cache/salt/master"), pattern))
		if err != nil {
			f.t.Fatal(err)
		}
		found = append(found, files...)
	}
	return found
}

// forgotten waits until the master has no data of a minion, and asks both tools whether it is present.
func (f *fleet) forgotten(id, release string) {
	f.t.Helper()
	f.eventually(patience, "nothing of "+id+" is kept", func() error {
		if left := f.kept(id); len(left) > 0 {
			return fmt.Errorf("there are %q", left)
		}
		return nil
	})
	for _, kind := range []string{brine, release} {
		if r := f.mustRun(kind, "salt-run", "--out=json", "manage.present"); strings.Contains(r.stdout, `"`+id+`"`) {
			f.t.Errorf("%s lists a deleted minion:\n%s", kind, r.stdout)
		}
	}
}

// TestDataCacheOfSalt: brine's tools find, clear and remove the data of minions that Salt masters store.
func TestDataCacheOfSalt(t *testing.T) {
	t.Parallel()
	for _, release := range chosen("3008", "3007", "3006") {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			f := dataFleet(t, release, release)
			f.step("found", func(f *fleet) { f.alike(release) })
			f.step("cleared", func(f *fleet) {
				for _, words := range [][]string{{"cache.clear_mine_func", "tgt=m1", "clear_mine_func_flag=test.ping"},
					{"cache.clear_pillar", "tgt=m1"}, {"cache.clear_grains", "tgt=m2"},
					{"cache.clear_mine", "tgt=m2"}} {
					f.mustRun(brine, "salt-run", words...)
				}
				for _, show := range [][]string{{"cache.grains", "*"}, {"cache.pillar", "*"}, {"cache.mine", "*"}} {
					f.sameOutput("salt-run", append([]string{"--out=json"}, show...)...)
				}
				if r := f.mustRun(brine, "salt-run", "--out=json", "cache.pillar", "*"); strings.Contains(r.stdout,
					"web of m1") || !strings.Contains(r.stdout, "web of m2") {
					f.t.Errorf("cache.clear_pillar of m1 left\n%s", r.stdout)
				}
			})
			f.step("deleted", func(f *fleet) {
				stopTogether(f.minions["m2"])
				delete(f.minions, "m2")
				if len(f.kept("m2")) == 0 {
					f.t.Fatal("nothing is kept of m2")
				}
				f.mustRun(brine, "salt-key", "-y", "-d", "m2")
				f.forgotten("m2", release)
			})
		})
	}
}

// TestDataCacheOfBrine: tools of every release find the data of minions that a brine master stores. No data is
// left of a minion that one of them has deleted.
func TestDataCacheOfBrine(t *testing.T) {
	t.Parallel()
	for _, release := range chosen("3008", "3007", "3006") {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			f := dataFleet(t, brine, release)
			f.step("found", func(f *fleet) { f.alike(release) })
			f.step("cleared", func(f *fleet) {
				f.mustRun(release, "salt-run", "cache.clear_pillar", "tgt=m1")
				f.sameOutput("salt-run", "--out=json", "cache.pillar", "*")
				f.mustRun(brine, "salt-run", "cache.clear_grains", "tgt=m1")
				f.sameOutput("salt-run", "--out=json", "cache.grains", "*")
			})
			f.step("deleted", func(f *fleet) {
				stopTogether(f.minions["m2"])
				delete(f.minions, "m2")
				if len(f.kept("m2")) < 4 {
					f.t.Fatalf("of m2 is kept %q", f.kept("m2"))
				}
				f.mustRun(release, "salt-key", "-y", "-d", "m2")
				f.forgotten("m2", release)
				if len(f.kept("m1")) == 0 {
					f.t.Error("another minion was forgotten")
				}
			})
		})
	}
}
