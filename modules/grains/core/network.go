package core

import (
	"net/netip"
	"slices"
	"syscall"

	"brine/modules/host/links"
	"brine/wire/payload"
)

func (h *machine) hwaddrs() *payload.Map {
	out := payload.NewMap(0)
	for _, i := range h.ifaces() {
		if i.HWAddr != "" {
			out.Set(i.Name, i.HWAddr)
		}
	}
	return payload.M("hwaddr_interfaces", out)
}

func (h *machine) ipInterfaces() *payload.Map {
	return payload.M("ip_interfaces", h.perInterface(func(i links.Interface) []any {
		return slices.Concat(addrTexts(i.Inet), addrTexts(i.Inet6), addrTexts(i.Secondary))
	}))
}

func (h *machine) ip4Interfaces() *payload.Map {
	return payload.M("ip4_interfaces", h.perInterface(func(i links.Interface) []any {
		return slices.Concat(addrTexts(i.Inet), addrTexts(i.Secondary))
	}))
}

func (h *machine) ip6Interfaces() *payload.Map {
	return payload.M("ip6_interfaces", h.perInterface(func(i links.Interface) []any { return addrTexts(i.Inet6) }))
}

func (h *machine) perInterface(addrs func(links.Interface) []any) *payload.Map {
	out := payload.NewMap(0)
	for _, i := range h.ifaces() {
		if list := addrs(i); list != nil {
			out.Set(i.Name, list)
		} else {
			out.Set(i.Name, []any{})
		}
	}
	return out
}

func addrTexts[A interface{ String() string }](addrs []A) []any {
	out := make([]any, len(addrs))
	for i, a := range addrs {
		out[i] = a.String()
	}
	return out
}

// addresses are all addresses, loopback included, without doubles and in numeric order.
func (h *machine) addresses() *payload.Map {
	var v4, v6 []netip.Addr
	for _, i := range h.ifaces() {
		v4 = append(append(v4, plain(i.Inet)...), plain(i.Secondary)...)
		v6 = append(v6, plain(i.Inet6)...)
	}
	return payload.M("ipv4", addrTexts(sorted(v4)), "ipv6", addrTexts(sorted(v6)))
}

// plain are the addresses without what else is known of them.
func plain(addrs []links.Address) []netip.Addr {
	out := make([]netip.Addr, len(addrs))
	for i, a := range addrs {
		out[i] = a.Addr
	}
	return out
}

func sorted(addrs []netip.Addr) []netip.Addr {
	slices.SortFunc(addrs, netip.Addr.Compare)
	return slices.Compact(addrs)
}

// gateways tells whether there are default routes, and by which gateway.
func (h *machine) gateways() *payload.Map {
	out := payload.M("ip_gw", false, "ip4_gw", false, "ip6_gw", false)
	for key, family := range map[string]int{"ip4_gw": syscall.AF_INET, "ip6_gw": syscall.AF_INET6} {
		gw, found := links.DefaultRoute(family)
		if !found {
			continue
		}
		out.Set("ip_gw", true)
		if gw.IsValid() {
			out.Set(key, gw.String())
		} else {
			out.Set(key, true)
		}
	}
	return out
}
