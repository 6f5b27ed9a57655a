package netapi

import (
	"net/netip"
	"sync"

	"brine/modules/fleet/door"
)

// Parts of the room for connections, one in so many.
const (
	freePart    = 2 // until it is taken nobody is asked how much he has,
	addressPart = 8 // and so much an address gets beyond it; what trusted proxies leave to others
)

// Room is the room of a server for connections. While less than half of it is taken each address gets what it wants;
// then an eighth, so that a stranger does not shut out the others, and many behind one address have half of it all the
// same. A network of 64 bits is one address of IPv6. It may be used by any number of goroutines.
type Room struct {
	Most    int            // in all, at least 1
	Each    int            // of an address; 0: as above
	Proxies []netip.Prefix // who may have all but an eighth: many are behind them

	mu   sync.Mutex
	all  int
	from map[string]int
	rest resting
}

// Enter takes a place for a connection of an address, if there is one for it. Who was let in leaves with the same word.
func (r *Room) Enter(from string) bool {
	proxy := trusted(r.Proxies, from)
	from = door.Network(from)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.fits(r.all, r.from[from], proxy) {
		return false
	}
	if r.from == nil {
		r.from = map[string]int{}
	}
	r.from[from]++
	r.all++
	return true
}

// fits tells whether there is a place for one more of whom has own, of all that are taken.
func (r *Room) fits(all, own int, proxy bool) bool {
	switch {
	case all >= r.Most:
		return false
	case proxy:
		return r.Most < addressPart || own < r.Most-r.Most/addressPart
	case r.Each > 0:
		return own < r.Each
	}
	return all < r.Most/freePart || own < max(1, r.Most/addressPart)
}

// Leave gives the place back.
func (r *Room) Leave(from string) {
	from = door.Network(from)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all--
	if r.from[from]--; r.from[from] == 0 {
		delete(r.from, from)
	}
}
