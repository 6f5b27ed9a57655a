package network

import (
	"log/slog"
	"net/netip"
	"slices"
	"strings"

	"brine/modules/host/links"
	"brine/modules/loader"
	"brine/modules/text/ipaddress"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// chosen are the addresses of one family of the interfaces that one of several patterns names; nil names all.
func chosen(names any, version int) []links.Address {
	patterns := patternsOf(names)
	var out []links.Address
	for _, i := range links.All() {
		named := func(pattern string) bool { return fnmatch.Match(pattern, i.Name) }
		if names != nil && !slices.ContainsFunc(patterns, named) {
			continue
		}
		if version == 6 {
			out = append(out, i.Inet6...)
			continue
		}
		out = append(append(out, i.Inet...), i.Secondary...)
	}
	return out
}

// patternsOf splits a text at its commas.
func patternsOf(names any) []string {
	list, ok := names.([]any)
	if !ok {
		list = nil
		for part := range strings.SplitSeq(python.Str(names), ",") {
			list = append(list, strings.TrimSpace(part))
		}
	}
	var out []string
	for _, v := range list {
		out = append(out, python.Str(v))
	}
	return out
}

// own are the addresses of this host in order, each once.
func own(names any, loopback bool, version int) []netip.Addr {
	var out []netip.Addr
	for _, a := range chosen(names, version) {
		if loopback || !ipaddress.Loopback(a.Addr) {
			out = append(out, a.Addr)
		}
	}
	slices.SortFunc(out, netip.Addr.Compare)
	return slices.Compact(out)
}

func texts(addrs []netip.Addr, want func(netip.Addr) bool) []any {
	out := []any{}
	for _, a := range addrs {
		if want == nil || want(a) {
			out = append(out, ipaddress.Alone(a).Text())
		}
	}
	return out
}

// ofInterfaces names interfaces, and says whether those of the loopback count.
type ofInterfaces struct {
	Interface any  `arg:"interface=None"`
	Loopback  bool `arg:"include_loopback=False"`
}

type (
	wanted6 struct {
		ofInterfaces
		CIDR any `arg:"cidr=None"`
	}
	wanted4 struct {
		wanted6
		Type any `arg:"type=None"`
	}
)

func ipAddrs(c *loader.Call, a wanted4) (any, error) {
	addrs := own(a.Interface, a.Loopback, 4)
	if cidr := a.CIDR; python.Truth(cidr) {
		return texts(addrs, within(c, cidr)), nil
	}
	switch a.Type {
	case "public":
		return texts(addrs, func(x netip.Addr) bool { return !ipaddress.Private(x) }), nil
	case "private":
		return texts(addrs, ipaddress.Private), nil
	}
	return texts(addrs, nil), nil
}

func ipAddrs6(c *loader.Call, a wanted6) (any, error) {
	addrs := own(a.Interface, a.Loopback, 6)
	if cidr := a.CIDR; python.Truth(cidr) {
		return texts(addrs, within(c, cidr)), nil
	}
	return texts(addrs, nil), nil
}

// networks are the networks of addresses in order, each once. Python orders those that begin alike by their masks.
func networks(addrs []links.Address, loopback bool) []netip.Prefix {
	var out []netip.Prefix
	for _, a := range addrs {
		p := netip.PrefixFrom(a.Addr, a.Bits).Masked()
		if a.Bits > 0 && (loopback || !ipaddress.Loopback(p.Addr())) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(x, y netip.Prefix) int {
		if n := x.Addr().Compare(y.Addr()); n != 0 {
			return n
		}
		return x.Bits() - y.Bits()
	})
	return slices.Compact(out)
}

// wantedNetworks are those of interfaces, in detail or not.
type wantedNetworks struct {
	ofInterfaces
	Verbose bool `arg:"verbose=False"`
}

func ipNetworks(version int) func(*loader.Call, wantedNetworks) (any, error) {
	return func(_ *loader.Call, a wantedNetworks) (any, error) {
		nets := networks(chosen(a.Interface, version), a.Loopback)
		if !a.Verbose {
			return prefixTexts(nets), nil
		}
		out := payload.NewMap(len(nets))
		for _, p := range nets {
			out.Set(p.String(), payload.M("address", p.Addr().String(), "netmask", netmask(p),
				"num_addresses", count(p), "prefixlen", int64(p.Bits())))
		}
		return out, nil
	}
}

func prefixTexts(nets []netip.Prefix) []any {
	out := []any{}
	for _, p := range nets {
		out = append(out, p.String())
	}
	return out
}

// listed are interfaces by their full names.
type listed struct {
	Interfaces any `arg:"interfaces=None"`
}

// subnets are the networks of interfaces that are named in full: one name, a list of names, or nil for all.
func subnets(_ *loader.Call, a listed) ([]any, error) {
	var addrs []links.Address
	for _, i := range links.All() {
		switch want := a.Interfaces.(type) {
		case nil:
		case []any:
			if !slices.Contains(want, any(i.Name)) {
				continue
			}
		default:
			if want != i.Name {
				continue
			}
		}
		addrs = append(append(addrs, i.Inet...), i.Secondary...)
	}
	return prefixTexts(networks(addrs, false)), nil
}

func subnets6(*loader.Call, struct{}) ([]any, error) {
	return prefixTexts(networks(chosen(nil, 6), false)), nil
}

// network is a network in the notation of CIDR.
type network struct {
	CIDR any `arg:"cidr"`
}

func inSubnet(c *loader.Call, a network) (bool, error) {
	addrs := append(own(nil, false, 4), own(nil, false, 6)...)
	return slices.ContainsFunc(addrs, within(c, a.CIDR)), nil
}

// within tells of an address whether it lies in a network. What is no network holds none, as in Salt, and is logged.
func within(c *loader.Call, cidr any) func(netip.Addr) bool {
	p, ok := strict(cidr)
	if !ok {
		c.Log(slog.LevelError, "Invalid CIDR '"+python.Str(cidr)+"'")
		return func(netip.Addr) bool { return false }
	}
	return func(a netip.Addr) bool { return p.Contains(a.WithZone("")) }
}

// strict reads a network whose host bits are not set.
func strict(v any) (netip.Prefix, bool) {
	text, ok := ipaddress.OfNumber(v).(string)
	if !ok {
		return netip.Prefix{}, false
	}
	p, _, ok := ipaddress.Parse(text)
	return p.Prefix, ok && p.Zone == "" && p.Prefix == p.Masked()
}
