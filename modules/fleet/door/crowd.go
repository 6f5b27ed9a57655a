package door

import (
	"net/netip"
	"sync"
)

// Parts of the room of a Crowd, one in so many.
const (
	anybodysPart = 2 // until it is taken nobody is asked how much he has,
	addressPart  = 8 // and so much an address gets beyond it
)

// Crowd is the room for what waits of people who have shown nothing yet: so many requests and so many bytes. One
// address gets half of it at most; when others come, they find room. Nobody is shut out: what was answered makes room.
type Crowd struct {
	MaxRequests int
	MaxBytes    int64

	mu   sync.Mutex
	all  taken
	from map[string]taken
}

type taken struct {
	n     int
	bytes int64
}

// fits tells whether there is room for more within a part of the room.
func (c *Crowd) fits(t taken, bytes int64, part int) bool {
	return t.n < max(1, c.MaxRequests/part) && (t.n == 0 || t.bytes+bytes <= c.MaxBytes/int64(part))
}

// Enter counts a request, if there is room for it. Who was let in leaves with the same words.
func (c *Crowd) Enter(from string, bytes int64) bool {
	from = Network(from)
	c.mu.Lock()
	defer c.mu.Unlock()
	own := c.from[from]
	if !c.fits(c.all, bytes, 1) || !c.fits(c.all, bytes, anybodysPart) && !c.fits(own, bytes, addressPart) {
		return false
	}
	if c.from == nil {
		c.from = map[string]taken{}
	}
	c.from[from] = taken{own.n + 1, own.bytes + bytes}
	c.all = taken{c.all.n + 1, c.all.bytes + bytes}
	return true
}

// Leave gives the room of a request back.
func (c *Crowd) Leave(from string, bytes int64) {
	from = Network(from)
	c.mu.Lock()
	defer c.mu.Unlock()
	own := c.from[from]
	c.all = taken{c.all.n - 1, c.all.bytes - bytes}
	if own.n <= 1 {
		delete(c.from, from)
		return
	}
	c.from[from] = taken{own.n - 1, own.bytes - bytes}
}

// Network is the address under which somebody counts: of IPv6 the network of 64 bits, for a host has all of it.
func Network(from string) string {
	addr, err := netip.ParseAddr(from)
	if err != nil || addr.Unmap().Is4() {
		return from
	}
	network, err := addr.WithZone("").Prefix(64)
	if err != nil {
		return from
	}
	return network.String()
}
