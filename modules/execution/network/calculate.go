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
	"brine/wire/payload"
	"brine/wire/python"
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

type (
	// addressed is an address.
	addressed struct {
		Addr any `arg:"ip_addr"`
	}
	inNetwork struct {
		addressed
		network
	}
	withMask struct {
		addressed
		Netmask any `arg:"netmask=None"`
	}
)

func ipInSubnet(c *loader.Call, a inNetwork) (any, error) {
	in := within(c, a.CIDR)
	if _, ok := strict(a.CIDR); !ok {
		return false, nil
	}
	list, ok := a.Addr.([]any)
	if !ok {
		list = []any{a.Addr}
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

func convertCIDR(_ *loader.Call, a network) (*payload.Map, error) {
	p, err := loose(a.CIDR)
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

func calcNet(_ *loader.Call, a withMask) (any, error) {
	v := a.Addr
	if mask := a.Netmask; mask != nil {
		v = python.Str(v) + "/" + python.Str(mask)
	}
	p, err := loose(v)
	if err != nil {
		return nil, err
	}
	return ipaddress.Network{Prefix: p}.String(), nil
}

// test makes a function that tells something of an address.
func test(holds func(netip.Addr) bool) func(*loader.Call, addressed) (bool, error) {
	return func(_ *loader.Call, a addressed) (bool, error) {
		n, err := address(a.Addr)
		return err == nil && holds(n.Addr()), err
	}
}

func privateAddr(a netip.Addr) bool { return ipaddress.Private(a) }

func loopbackAddr(a netip.Addr) bool { return ipaddress.Loopback(a) }

func reverseIP(_ *loader.Call, a addressed) (any, error) {
	n, err := address(a.Addr)
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

// dotted is an IPv4 address.
type dotted struct {
	IP any `arg:"ip"`
}

func hexValue(_ *loader.Call, a dotted) (any, error) {
	text, ok := a.IP.(string)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'split'", python.Type(a.IP))
	}
	var out strings.Builder
	for part := range strings.SplitSeq(text, ".") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return nil, valueError("invalid literal for int() with base 10: %s", python.Repr(part))
		}
		fmt.Fprintf(&out, "%02X", n)
	}
	return out.String(), nil
}
