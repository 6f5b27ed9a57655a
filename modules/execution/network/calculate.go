package network

import (
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"brine/modules/loader"
	"brine/modules/text/ipaddress"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// address reads an address as ipaddress.ip_address does.
func address(v any) (ipaddress.Network, error) {
	if text, ok := ipaddress.OfNumber(v).(string); ok {
		if n, explicit, ok := ipaddress.Parse(text); ok && !explicit {
			return n, nil
		}
	}
	return ipaddress.Network{}, notAddress(v, "address")
}

// loose reads a network whose host bits may be set.
func loose(v any) (netip.Prefix, error) {
	if text, ok := ipaddress.OfNumber(v).(string); ok {
		if n, _, ok := ipaddress.Parse(text); ok && n.Zone == "" {
			return n.Masked(), nil
		}
	}
	return netip.Prefix{}, notAddress(v, "network")
}

func ipInSubnet(c *loader.Call, a loader.Args) (any, error) {
	in := within(c, a.Get("cidr"))
	if _, ok := strict(a.Get("cidr")); !ok {
		return false, nil
	}
	list, ok := a.Get("ip_addr").([]any)
	if !ok {
		list = []any{a.Get("ip_addr")}
	}
	for _, v := range list {
		n, err := address(v)
		if err != nil {
			return nil, err
		}
		if in(n.Addr()) {
			return true, nil
		}
	}
	return false, nil
}

func convertCIDR(_ *loader.Call, a loader.Args) (any, error) {
	p, err := loose(a.Get("cidr"))
	if err != nil {
		return nil, err
	}
	return payload.M("network", textOf(p.Addr()), "netmask", netmask(p), "broadcast", textOf(ipaddress.Last(p))), nil
}

func textOf(a netip.Addr) string { return ipaddress.Alone(a).Text() }

// netmask is the mask of a network as an address of its kind.
func netmask(p netip.Prefix) string {
	if p.Addr().Is4() {
		return ipaddress.Mask(p.Bits())
	}
	raw := make([]byte, 16)
	for i := range p.Bits() {
		raw[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(raw)
	return a.String()
}

// count is the number of addresses of a network.
func count(p netip.Prefix) any {
	n := new(big.Int).Lsh(big.NewInt(1), uint(p.Addr().BitLen()-p.Bits()))
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}

func calcNet(_ *loader.Call, a loader.Args) (any, error) {
	v := a.Get("ip_addr")
	if mask := a.Get("netmask"); mask != nil {
		v = pytext.Str(v) + "/" + pytext.Str(mask)
	}
	p, err := loose(v)
	if err != nil {
		return nil, err
	}
	return ipaddress.Network{Prefix: p}.String(), nil
}

// test makes a function that tells something of an address.
func test(holds func(netip.Addr) bool) run {
	return func(_ *loader.Call, a loader.Args) (any, error) {
		n, err := address(a.Get("ip_addr"))
		return err == nil && holds(n.Addr()), err
	}
}

func privateAddr(a netip.Addr) bool { return ipaddress.Private(a) }

func loopbackAddr(a netip.Addr) bool { return ipaddress.Loopback(a) }

func reverseIP(_ *loader.Call, a loader.Args) (any, error) {
	n, err := address(a.Get("ip_addr"))
	if err != nil {
		return nil, err
	}
	var parts []string
	if n.Addr().Is4() {
		parts = strings.Split(n.Addr().String(), ".")
		slices.Reverse(parts)
		return strings.Join(parts, ".") + ".in-addr.arpa", nil
	}
	for _, digit := range fmt.Sprintf("%x", n.Addr().AsSlice()) {
		parts = append(parts, string(digit))
	}
	slices.Reverse(parts)
	return strings.Join(parts, ".") + ".ip6.arpa", nil
}

func hexValue(_ *loader.Call, a loader.Args) (any, error) {
	text, ok := a.Get("ip").(string)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'split'", pytext.Type(a.Get("ip")))
	}
	var out strings.Builder
	for part := range strings.SplitSeq(text, ".") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return nil, valueError("invalid literal for int() with base 10: %s", pytext.Repr(part))
		}
		fmt.Fprintf(&out, "%02X", n)
	}
	return out.String(), nil
}
