package speakers

import (
	"testing"

	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
)

// TestRoles: what an id has shown stays over a restart as long as its key does, and a damaged file forgets nothing to its good.
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
