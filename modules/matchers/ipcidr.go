package matchers

import (
	"net/netip"
	"strconv"
	"strings"

	"brine/wire/payload"
)

// ipTarget is an address or a network.
type ipTarget struct {
	addr netip.Addr
	net  netip.Prefix // valid when the target is a network
}

// parseIPTarget reads "10.0.0.1", "10.0.0.0/8", "10.0.0.0/255.0.0.0", and the forms of IPv6. A network with bits
// set beyond its mask is refused, as Python's ipaddress does.
func parseIPTarget(text string) (ipTarget, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return ipTarget{addr: a}, nil
	}
	base, mask, ok := strings.Cut(text, "/")
	addr, err := netip.ParseAddr(base)
	if !ok || err != nil {
		return ipTarget{}, targetErr("Invalid IP/CIDR target: %s", text)
	}
	bits, ok := maskBits(addr, mask)
	if !ok {
		return ipTarget{}, targetErr("Invalid IP/CIDR target: %s", text)
	}
	p := netip.PrefixFrom(addr, bits)
	if !p.IsValid() || p.Masked() != p {
		return ipTarget{}, targetErr("Invalid IP/CIDR target: %s", text)
	}
	return ipTarget{addr: addr, net: p}, nil
}

// maskBits reads a prefix length, or for IPv4 a netmask or its inverse.
func maskBits(addr netip.Addr, mask string) (int, bool) {
	if n, err := strconv.Atoi(mask); err == nil {
		return n, mask[0] != '+' && n >= 0 && n <= addr.BitLen()
	}
	m, err := netip.ParseAddr(mask)
	if err != nil || !m.Is4() || !addr.Is4() {
		return 0, false
	}
	b := m.As4()
	v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	for _, candidate := range [...]uint32{v, ^v} {
		for bits := 0; bits <= 32; bits++ {
			if candidate == uint32(0xffffffff<<(32-bits)) {
				return bits, true
			}
		}
	}
	return 0, false
}

// key is the grain that is looked at.
func (t ipTarget) key() string {
	if t.addr.Is4() {
		return "ipv4"
	}
	return "ipv6"
}

// match looks at the grains ipv4 or ipv6: an address must be listed, a network must hold a listed one.
func (t ipTarget) match(grains *payload.Map) bool {
	for _, v := range addresses(grains.Value(t.key())) {
		if !t.net.IsValid() {
			if v == t.addr.String() {
				return true
			}
			continue
		}
		if a, err := netip.ParseAddr(v); err == nil && t.net.Contains(a.WithZone("")) {
			return true
		}
	}
	return false
}

func addresses(v any) []string {
	switch x := v.(type) {
	case string:
		return []string{x}
	case []any:
		out := make([]string, 0, len(x))
		for _, a := range x {
			if s, ok := a.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

func matchIPCIDR(f *Facts, tgt any, _ string) (bool, error) {
	text, _ := tgt.(string)
	t, err := parseIPTarget(text)
	if err != nil {
		return false, err
	}
	return t.match(f.grainsUnder([]any{t.key()})), nil
}
