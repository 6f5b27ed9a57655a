package presence

import (
	"net/netip"
	"testing"
	"time"

	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// countingCache counts how often grains are read.
type countingCache struct {
	fakeCache
	reads int
}

func (c *countingCache) Data(bank, id string) (*payload.Map, error) {
	c.reads++
	return c.fakeCache.Data(bank, id)
}

// TestAddressBook reads grains once until they change, and no longer than it is let.
func TestAddressBook(t *testing.T) {
	cache := &countingCache{fakeCache: fakeCache{"far": grains("192.0.2.7", ""), "gone": grains("10.9.9.9", ""),
		"none": nil}}
	changed := time.Unix(1, 0)
	peers := []Conn{{4505, netip.MustParseAddrPort("192.0.2.7:1234")}}
	b := &AddressBook{Updated: func(string) time.Time { return changed },
		Finder: &Finder{Cache: cache, Port: 4505, Peers: func() ([]Conn, error) { return peers, nil }}}
	look := func(stop bool, want map[string]bool, whole bool, reads int) {
		t.Helper()
		got, all, err := b.Connected([]string{"far", "gone", "none", "stranger"}, func() bool { return stop })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || all != whole || cache.reads != reads {
			t.Errorf("whole %v, %d reads, want %v, %d; (-want +got):\n%s", all, cache.reads, whole, reads, diff)
		}
	}
	look(true, nil, false, 0)
	look(false, map[string]bool{"far": true, "gone": false}, true, 3)
	peers = nil
	look(true, map[string]bool{"far": false, "gone": false}, true, 3)
	changed = time.Unix(2, 0)
	cache.fakeCache["gone"] = grains("192.0.2.7", "")
	peers = []Conn{{4505, netip.MustParseAddrPort("192.0.2.7:1234")}}
	look(true, map[string]bool{"far": true, "gone": false}, false, 3)
	look(false, map[string]bool{"far": true, "gone": true}, true, 6)
	delete(cache.fakeCache, "gone")
	look(false, map[string]bool{"far": true}, true, 6)
}
