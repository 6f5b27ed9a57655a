// Package ipaddress reads and writes addresses and networks as Python's ipaddress module does: masks in three forms,
// zones, what is private and what is reserved. It answers to Lib/ipaddress.py of Python 3.11.
package ipaddress

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"net/netip"
	"strconv"
	"strings"
)

// Network is an address with the length of its network. Its Zone is that of the address ("eth0"), or empty.
type Network struct {
	netip.Prefix
	Zone string
}

// Text is the address alone. Python 3.11 writes an IPv4 address that is mapped into IPv6 by its hexadecimal digits.
func (n Network) Text() string {
	s := n.Addr().String()
	if n.Addr().Is4In6() {
		b := n.Addr().As16()
		s = fmt.Sprintf("::ffff:%x:%x", binary.BigEndian.Uint16(b[12:]), binary.BigEndian.Uint16(b[14:]))
	}
	if n.Zone != "" {
		s += "%" + n.Zone
	}
	return s
}

// String is the address with the length of its network.
func (n Network) String() string { return n.Text() + "/" + strconv.Itoa(n.Bits()) }

// Alone is the network of one address.
func Alone(a netip.Addr) Network { return Network{netip.PrefixFrom(a, a.BitLen()), a.Zone()} }

// Parse reads an address with an optional mask; explicit says whether there was one.
func Parse(s string) (p Network, explicit, ok bool) {
	if a, err := netip.ParseAddr(s); err == nil && !strings.Contains(s, "/") {
		return Alone(a), false, true
	}
	addr, mask, found := strings.Cut(s, "/")
	a, err := netip.ParseAddr(addr)
	if err != nil || !found {
		return p, false, false
	}
	if bits, err := strconv.Atoi(mask); err == nil && bits >= 0 && bits <= a.BitLen() &&
		strings.Trim(mask, "0123456789") == "" {
		return Network{netip.PrefixFrom(a, bits), a.Zone()}, true, true
	}
	if bits, ok := dottedMask(a, mask); ok {
		return Network{Prefix: netip.PrefixFrom(a, bits)}, true, true
	}
	return p, false, false
}

// dottedMask is the length that a mask, or the complement of one, stands for behind an IPv4 address.
func dottedMask(a netip.Addr, mask string) (int, bool) {
	m, err := netip.ParseAddr(mask)
	if err != nil || !m.Is4() || !a.Is4() {
		return 0, false
	}
	raw := m.As4()
	n := uint64(binary.BigEndian.Uint32(raw[:]))
	for bits := range 33 {
		ones := uint64(0xffffffff) << (32 - bits) & 0xffffffff
		if n == ones || n == ^ones&0xffffffff {
			return bits, true
		}
	}
	return 0, false
}

// reserved are the blocks Python calls reserved, besides those the standard library of Go knows.
var (
	privateBlocks = prefixes("0.0.0.0/8 10.0.0.0/8 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/29 " +
		"192.0.0.170/31 192.0.2.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 " +
		"255.255.255.255/32 ::1/128 ::/128 ::ffff:0:0/96 100::/64 2001::/23 2001:2::/48 2001:db8::/32 2001:10::/28 " +
		"fc00::/7 fe80::/10")
	reserved6 = prefixes("::/8 100::/8 200::/7 400::/6 800::/5 1000::/4 4000::/3 6000::/3 8000::/3 A000::/3 " +
		"C000::/3 E000::/4 F000::/5 F800::/6 FE00::/9")
	reserved4 = prefixes("240.0.0.0/4")
	siteLocal = prefixes("fec0::/10")
)

func prefixes(s string) []netip.Prefix {
	var out []netip.Prefix
	for w := range strings.FieldsSeq(s) {
		out = append(out, netip.MustParsePrefix(w))
	}
	return out
}

func inAny(blocks []netip.Prefix, a netip.Addr) bool {
	for _, b := range blocks {
		if b.Contains(a) {
			return true
		}
	}
	return false
}

// Holds tells whether an option of the filters holds for an address ("private", "loopback", ...), and whether there is
// such an option.
func Holds(name string, a netip.Addr) (holds, known bool) {
	// Python looks through a mapped address for what is private, and for nothing else.
	mapped := a.Is4In6()
	switch name {
	case "global", "public":
		return !inAny(privateBlocks, a.Unmap()), true
	case "link-local", "linklocal", "ll", "link_local":
		return a.IsLinkLocalUnicast() && !mapped, true
	case "loopback", "lo":
		return a.IsLoopback() && !mapped, true
	case "multicast":
		return a.IsMulticast() && !mapped, true
	case "private":
		return inAny(privateBlocks, a.Unmap()), true
	case "reserved":
		return inAny(reserved4, a) || inAny(reserved6, a), true
	case "site-local", "sl", "site_local":
		return inAny(siteLocal, a), true
	case "unspecified":
		return a.IsUnspecified(), true
	}
	return false, false
}

// OfNumber makes the text of an address of a number, as Python's ipaddress does: of 32 bits where it fits, else of 128.
func OfNumber(v any) any {
	n := new(big.Int)
	switch v := v.(type) {
	case bool:
		if v {
			n.SetInt64(1)
		}
	case int64:
		n.SetInt64(v)
	case *big.Int:
		n = v
	default:
		return v
	}
	if n.Sign() < 0 || n.BitLen() > 128 {
		return v
	}
	if n.BitLen() <= 32 {
		return netip.AddrFrom4([4]byte(n.FillBytes(make([]byte, 4)))).String()
	}
	return Alone(netip.AddrFrom16([16]byte(n.FillBytes(make([]byte, 16))))).Text()
}

// Private tells whether an address is one that Python's is_private names.
func Private(a netip.Addr) bool { return inAny(privateBlocks, a.Unmap()) }

// Loopback is is_loopback: Python does not look through a mapped address.
func Loopback(a netip.Addr) bool { return a.IsLoopback() && !a.Is4In6() }

// Mask is the netmask of a network of so many bits, in dots for IPv4.
func Mask(bits int) string {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(uint64(0xffffffff)<<(32-bits)))
	return netip.AddrFrom4(b).String()
}

// Last is the last address of a network: its broadcast address.
func Last(p netip.Prefix) netip.Addr {
	raw := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < 8*len(raw); i++ {
		raw[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(raw)
	return a
}
