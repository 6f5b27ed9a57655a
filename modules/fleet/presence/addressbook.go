package presence

import (
	"net/netip"
	"sync"
	"time"
)

// AddressBook remembers the addresses in cached grains: where the grains of a big fleet are not read anew, a look at
// all its minions takes milliseconds. It is safe for concurrent use.
type AddressBook struct {
	Finder *Finder
	// Updated is when the grains of an id were cached; the zero time when that is not known.
	Updated func(id string) time.Time

	mu   sync.Mutex
	byID map[string]entry
}

// entry are the addresses of one minion, none when its grains name none.
type entry struct {
	updated time.Time
	addrs   []netip.Addr
}

// Connected tells of some minions whether they are connected. Those whose addresses are not known are left out. Grains
// that were not read before are read until stop says so; whole is false when some are left for the next look.
func (b *AddressBook) Connected(ids []string, stop func() bool) (up map[string]bool, whole bool, err error) {
	known, whole, err := b.known(ids, stop)
	if err != nil || len(known) == 0 {
		return nil, whole, err
	}
	peers, err := b.Finder.addresses()
	if err != nil {
		return nil, false, err
	}
	up = make(map[string]bool, len(known))
	for id, addrs := range known {
		up[id] = anyOf(addrs, peers)
	}
	return up, whole, nil
}

// known are the addresses of those minions that have some.
func (b *AddressBook) known(ids []string, stop func() bool) (known map[string][]netip.Addr, whole bool, err error) {
	if len(ids) == 0 {
		return nil, true, nil
	}
	cached, err := b.Finder.Cache.Cached(bankGrains)
	if err != nil {
		return nil, false, err
	}
	there := make(map[string]bool, len(cached))
	for _, id := range cached {
		there[id] = true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byID == nil {
		b.byID = map[string]entry{}
	}
	known, whole = map[string][]netip.Addr{}, true
	for _, id := range ids {
		if !there[id] {
			delete(b.byID, id)
			continue
		}
		addrs, ok := b.addresses(id, stop)
		whole = whole && ok
		if len(addrs) > 0 {
			known[id] = addrs
		}
	}
	return known, whole, nil
}

// addresses are those of one minion, from memory if its grains are still the same.
func (b *AddressBook) addresses(id string, stop func() bool) (addrs []netip.Addr, known bool) {
	updated := b.Updated(id)
	old, ok := b.byID[id]
	if ok && !updated.IsZero() && old.updated.Equal(updated) {
		return old.addrs, true
	}
	if stop() {
		return old.addrs, false
	}
	grains, err := b.Finder.Cache.Data(bankGrains, id)
	if err != nil {
		return nil, true // as Salt: what cannot be read is not seen
	}
	addrs = addressesOf(grains)
	b.byID[id] = entry{updated, addrs}
	return addrs, true
}

func anyOf(addrs []netip.Addr, peers map[netip.Addr]bool) bool {
	for _, a := range addrs {
		if peers[a] {
			return true
		}
	}
	return false
}
