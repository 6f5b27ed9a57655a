package config

import (
	"net/netip"

	"brine/wire/payload"
)

// Front limits the connections of a salt-api server. Its options are brine's own, in the section of the server.
type Front struct {
	// connections_max: in total. It replaces Salt's thread_pool: brine handles as many requests at the same time as
	// there are connections
	MaxConnections int
	EachAddress    int            // connections_per_address; 0: half of all, or an eighth while half of all are taken
	Proxies        []netip.Prefix // trusted_proxies: their X-Forwarded-For gives the address of the client
}

// maxConnections is how many connections a server accepts, unless there are too few descriptors.
const maxConnections = 8192

// front reads these options.
func (s *section) front() Front {
	return Front{MaxConnections: s.number("connections_max", maxConnections, 1, 1<<20),
		EachAddress: s.number("connections_per_address", 0, 0, 1<<20),
		Proxies:     s.networks("trusted_proxies")}
}

// networks reads one or a list of addresses and networks.
func (s *section) networks(key string) (list []netip.Prefix) {
	v, ok := s.get(key)
	if !ok {
		return nil
	}
	texts, is := v.([]any)
	if !is {
		texts = []any{v}
	}
	for _, one := range payload.Texts(texts) {
		network, err := netip.ParsePrefix(one)
		if addr, errAddr := netip.ParseAddr(one); errAddr == nil {
			network, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err == nil {
			list = append(list, network.Masked())
		}
	}
	if len(list) != len(texts) {
		s.bad(key, "a list of addresses or networks")
	}
	return list
}
