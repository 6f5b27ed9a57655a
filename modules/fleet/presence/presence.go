// Package presence tells which minions are connected to a master on this machine, as Salt's tools do: by the
// established TCP connections to the publish port and the addresses in the cached grains. It asks nobody and knows
// no key: a minion behind an address translation, or without cached grains, is not seen. Answers to connected_ids in
// salt/utils/minions.py and _remotes_on in salt/utils/network.py.
package presence

import (
	"fmt"
	"net/netip"

	"brine/wire/payload"
)

// Cache reads the bank "grains" of the master's data cache.
type Cache interface {
	// Cached lists the ids for which a bank holds data.
	Cached(bank string) ([]string, error)
	// Data returns what a bank holds of an id; nil when there is nothing.
	Data(bank, id string) (*payload.Map, error)
}

// Finder looks for connected minions. It is safe for concurrent use.
type Finder struct {
	Cache      Cache
	Port       int                          // publish_port of the master
	RemotePort int                          // with detect_remote_minions: remote_minions_port, else 0
	Peers      func() ([]Conn, error)       // nil: the established connections of this machine
	Local      func() ([]netip.Addr, error) // nil: the addresses of this machine's interfaces
}

const bankGrains = "grains"

// Connected maps the id of each connected minion to the address it is connected from.
func (f *Finder) Connected() (map[string]string, error) {
	peers, err := f.addresses()
	if err != nil || len(peers) == 0 {
		return map[string]string{}, err
	}
	ids, err := f.Cache.Cached(bankGrains)
	if err != nil {
		return nil, fmt.Errorf("list cached grains: %w", err)
	}
	found := make(map[string]string, len(ids))
	for _, id := range ids {
		grains, err := f.Cache.Data(bankGrains, id)
		if err != nil {
			continue // as Salt: what cannot be read is not seen
		}
		if addr, ok := match(grains, peers); ok {
			found[id] = addr
		}
	}
	return found, nil
}

// Among tells which of some minions are connected, as far as that can be told: ids whose addresses are not known are
// in neither list.
func (f *Finder) Among(ids []string) (up, down []string, err error) {
	peers, err := f.addresses()
	if err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		grains, err := f.Cache.Data(bankGrains, id)
		if err != nil || len(grains.List("ipv4"))+len(grains.List("ipv6")) == 0 {
			continue
		}
		if _, ok := match(grains, peers); ok {
			up = append(up, id)
		} else {
			down = append(down, id)
		}
	}
	return up, down, nil
}

// match finds the first address of a minion that is among the peers.
func match(grains *payload.Map, peers map[netip.Addr]bool) (string, bool) {
	for _, key := range []string{"ipv4", "ipv6"} {
		for _, v := range grains.List(key) {
			text, _ := v.(string)
			if addr, err := netip.ParseAddr(text); err == nil && peers[addr.WithZone("")] {
				return text, true
			}
		}
	}
	return "", false
}

// addressesOf are the addresses that grains name.
func addressesOf(grains *payload.Map) (addrs []netip.Addr) {
	for _, key := range []string{"ipv4", "ipv6"} {
		for _, v := range grains.List(key) {
			text, _ := v.(string)
			if addr, err := netip.ParseAddr(text); err == nil {
				addrs = append(addrs, addr.WithZone(""))
			}
		}
	}
	return addrs
}

// addresses are those that minions are connected from. A minion on this machine may come from loopback: all
// addresses of this machine stand for that one.
func (f *Finder) addresses() (map[netip.Addr]bool, error) {
	read := f.Peers
	if read == nil {
		read = Established
	}
	conns, err := read()
	if err != nil {
		return nil, err
	}
	peers := map[netip.Addr]bool{}
	loopback := map[bool]bool{} // by "is IPv4"
	for _, c := range conns {
		if c.LocalPort != f.Port && (f.RemotePort == 0 || c.Remote.Port() != uint16(f.RemotePort)) {
			continue
		}
		if addr := c.Remote.Addr(); addr.IsLoopback() && (addr == loop4 || addr == loop6) {
			loopback[addr.Is4()] = true
		} else {
			peers[addr] = true
		}
	}
	if len(loopback) == 0 {
		return peers, nil
	}
	local := f.Local
	if local == nil {
		local = interfaceAddrs
	}
	addrs, err := local()
	for _, a := range addrs {
		if !a.IsLoopback() && loopback[a.Is4()] {
			peers[a] = true
		}
	}
	return peers, err
}
