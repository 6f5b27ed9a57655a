package grains

import (
	"net/netip"
	"slices"
	"syscall"

	"brine/wire/payload"
)

func (h *host) hwaddrs() *payload.Map {
	out := payload.NewMap(0)
	for _, i := range h.ifaces() {
		if i.hwaddr != "" {
			out.Set(i.name, i.hwaddr)
		}
	}
	return one("hwaddr_interfaces", out)
}

func (h *host) ipInterfaces() *payload.Map {
	return one("ip_interfaces", h.perInterface(func(i iface) []any {
		return slices.Concat(addrTexts(i.inet), addrTexts(i.inet6), addrTexts(i.secondary))
	}))
}

func (h *host) ip4Interfaces() *payload.Map {
	return one("ip4_interfaces", h.perInterface(func(i iface) []any {
		return slices.Concat(addrTexts(i.inet), addrTexts(i.secondary))
	}))
}

func (h *host) ip6Interfaces() *payload.Map {
	return one("ip6_interfaces", h.perInterface(func(i iface) []any { return addrTexts(i.inet6) }))
}

func (h *host) perInterface(addrs func(iface) []any) *payload.Map {
	out := payload.NewMap(0)
	for _, i := range h.ifaces() {
		if list := addrs(i); list != nil {
			out.Set(i.name, list)
		} else {
			out.Set(i.name, []any{})
		}
	}
	return out
}

func addrTexts(addrs []netip.Addr) []any {
	out := make([]any, len(addrs))
	for i, a := range addrs {
		out[i] = a.String()
	}
	return out
}

// addresses are all addresses, loopback included, without doubles and in numeric order.
func (h *host) addresses() *payload.Map {
	var v4, v6 []netip.Addr
	for _, i := range h.ifaces() {
		v4 = append(append(v4, i.inet...), i.secondary...)
		v6 = append(v6, i.inet6...)
	}
	return payload.M("ipv4", addrTexts(sorted(v4)), "ipv6", addrTexts(sorted(v6)))
}

func sorted(addrs []netip.Addr) []netip.Addr {
	slices.SortFunc(addrs, netip.Addr.Compare)
	return slices.Compact(addrs)
}

// gateways tells whether there are default routes, and by which gateway.
func (h *host) gateways() *payload.Map {
	out := payload.M("ip_gw", false, "ip4_gw", false, "ip6_gw", false)
	for key, family := range map[string]int{"ip4_gw": syscall.AF_INET, "ip6_gw": syscall.AF_INET6} {
		gw, found := defaultRoute(family)
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
