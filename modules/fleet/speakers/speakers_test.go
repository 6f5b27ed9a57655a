package speakers

import (
	"testing"
	"time"

	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
)

// TestRoles: what an id has shown stays over a restart as long as its key does, and a damaged file forgets nothing to
// its good.
func TestRoles(t *testing.T) {
	dir := t.TempDir()
	banks, err := datacache.OpenBanks(dir)
	if err != nil {
		t.Fatal(err)
	}
	store := keys.NewStore(keys.Options{Dir: t.TempDir()})
	again := func() *Roles { return &Roles{Keys: store, Cache: banks, SyndicDir: t.TempDir()} }
	put := func(pub string) {
		if err := store.Put(keys.Accepted, "a", pub); err != nil {
			t.Fatal(err)
		}
	}
	show := func(s *Spoken) { s.Role, s.V3 = RoleMinion, true }
	if got, err := again().Note("a", show); err != nil || got != (Spoken{}) {
		t.Errorf("without a key: %+v, %v", got, err)
	}
	put("one")
	if got, err := again().Note("a", show); err != nil || got.Role != RoleMinion || !got.V3 {
		t.Errorf("noted: %+v, %v", got, err)
	}
	if got := again().Of("a"); got.Role != RoleMinion || !got.V3 {
		t.Errorf("after a restart: %+v", got)
	}
	put("two")
	if got := again().Of("a"); got.Role != "" || got.V3 {
		t.Errorf("with another key: %+v", got)
	}
}

// TestResourcesSince: a resource is a minion's since it named it first without a break, over new starts and
// whatever the clock does; an id under which somebody offered a key becomes none.
func TestResourcesSince(t *testing.T) {
	banks, err := datacache.OpenBanks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	store := keys.NewStore(keys.Options{Dir: t.TempDir()})
	put := func(st keys.Status, id string) {
		if err := store.Put(st, id, "pub"); err != nil {
			t.Fatal(err)
		}
	}
	now := time.UnixMicro(1_000_000)
	var s *Resources
	again := func() { s = &Resources{Keys: store, Cache: banks, Now: func() time.Time { return now }} }
	register := func(minion string, ids ...string) []string {
		refused, err := s.Register(minion, ids)
		if err != nil {
			t.Fatal(err)
		}
		return refused
	}
	since := func(minion, id string, want int64) {
		t.Helper()
		at, ok := s.Since(minion, id)
		if want < 0 && ok || want >= 0 && !ok || want == 0 && !at.IsZero() || want > 0 &&
			!at.Equal(time.UnixMicro(want)) {
			t.Errorf("%s manages %s: %v since %v, want %d", minion, id, ok, at, want)
		}
	}
	put(keys.Accepted, "m1")
	put(keys.Accepted, "m2")
	if err := banks.Store(BankResources, "m2", []any{"old"}); err != nil { // as it was kept before
		t.Fatal(err)
	}
	again()
	register("m1", "r1")
	now = now.Add(time.Second)
	register("m1", "r1", "r2", "r2", "old")
	for range 2 {
		since("m1", "r1", 1_000_000)
		since("m1", "r2", 2_000_000)
		since("m1", "r3", -1)
		since("m1", "old", -1)
		since("m2", "old", 0)
		again()
	}
	now = now.Add(-1500 * time.Millisecond) // set back
	since("m1", "r1", 0)
	since("m1", "r2", 0)
	now = now.Add(time.Minute)
	register("m1", "r2")
	register("m1", "r1", "r2")
	since("m1", "r1", now.UnixMicro()) // it was given up meanwhile
	since("m1", "r2", 2_000_000)

	put(keys.Pending, "r1") // a stranger's
	put(keys.Pending, "p")
	put(keys.Rejected, "q")
	put(keys.Denied, "d")
	if got := register("m1", "r1", "r2", "p", "q", "d", "m2"); len(got) != 4 {
		t.Errorf("refused %q", got)
	}
	since("m1", "r1", now.UnixMicro())
	put(keys.Accepted, "r1")
	since("m1", "r1", -1)
}
