package jinja

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"net/netip"
	"strconv"
	"strings"

	"brine/modules/renderers/jinja/py"
)

func saltNetFilters() map[string]*builtin {
	is := func(name string, versions ...int) *builtin {
		return filter(name, "ip_addr options=", func(_ *run, a []any) (any, error) {
			for _, v := range versions {
				if s, err := ipOf(asAddress(a[0]), v, a[1]); s != nil || err != nil {
					return s != nil, err
				}
			}
			return false, nil
		}, nil)
	}
	only := func(name string, version int) *builtin {
		return filter(name, "value options=", func(r *run, a []any) (any, error) { return ipFilter(r, a[0], version, a[1]) }, nil)
	}
	return map[string]*builtin{
		"is_ip": is("is_ip_filter", 4, 6), "is_ipv4": is("is_ipv4_filter", 4), "is_ipv6": is("is_ipv6_filter", 6),
		"ipv4": only("ipv4", 4), "ipv6": only("ipv6", 6), "ipaddr": only("ipaddr", 0),
		"ip_host":            filter("ip_host", "value options= version=", perAddress(hostOf), nil, nil),
		"network_hosts":      filter("network_hosts", "value options= version=", perAddress(hostsOf), nil, nil),
		"network_size":       filter("network_size", "value options= version=", perAddress(sizeOf), nil, nil),
		"ipwrap":             filter("ipwrap", "data", ipwrap),
		"filter_by_networks": filter("filter_by_networks", "values networks", byNetworks),
		"mac_str_to_bytes":   ofText("mac_str_to_bytes", "mac_str", macBytes),
		"gen_mac":            filter("gen_mac", "prefix=", genMAC, "AC:DE:48"),
	}
}

// network is an address with the length of its network. Its zone is that of the address ("eth0"), or empty.
type network struct {
	netip.Prefix
	zone string
}

// text is the address alone. Python 3.11 writes an IPv4 address that is mapped into IPv6 by its hexadecimal digits.
func (n network) text() string {
	s := n.Addr().String()
	if n.Addr().Is4In6() {
		b := n.Addr().As16()
		s = fmt.Sprintf("::ffff:%x:%x", binary.BigEndian.Uint16(b[12:]), binary.BigEndian.Uint16(b[14:]))
	}
	if n.zone != "" {
		s += "%" + n.zone
	}
	return s
}

// String is the address with the length of its network.
func (n network) String() string { return n.text() + "/" + strconv.Itoa(n.Bits()) }

// alone is the network of one address.
func alone(a netip.Addr) network { return network{netip.PrefixFrom(a, a.BitLen()), a.Zone()} }

// parsePrefix reads an address with an optional mask; explicit says whether there was one.
func parsePrefix(s string) (p network, explicit, ok bool) {
	if a, err := netip.ParseAddr(s); err == nil && !strings.Contains(s, "/") {
		return alone(a), false, true
	}
	addr, mask, found := strings.Cut(s, "/")
	a, err := netip.ParseAddr(addr)
	if err != nil || !found {
		return p, false, false
	}
	if bits, err := strconv.Atoi(mask); err == nil && bits >= 0 && bits <= a.BitLen() && strings.Trim(mask, "0123456789") == "" {
		return network{netip.PrefixFrom(a, bits), a.Zone()}, true, true
	}
	if bits, ok := dottedMask(a, mask); ok {
		return network{Prefix: netip.PrefixFrom(a, bits)}, true, true
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
	privateBlocks = prefixes("0.0.0.0/8 10.0.0.0/8 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/29 192.0.0.170/31 192.0.2.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 255.255.255.255/32 ::1/128 ::/128 ::ffff:0:0/96 100::/64 2001::/23 2001:2::/48 2001:db8::/32 2001:10::/28 fc00::/7 fe80::/10")
	reserved6     = prefixes("::/8 100::/8 200::/7 400::/6 800::/5 1000::/4 4000::/3 6000::/3 8000::/3 A000::/3 C000::/3 E000::/4 F000::/5 F800::/6 FE00::/9")
	reserved4     = prefixes("240.0.0.0/4")
	siteLocal     = prefixes("fec0::/10")
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

// ipOptions are what may be asked of an address.
func ipOption(name string, a netip.Addr) (holds, known bool) {
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

// asAddress makes the text of an address of a number, as Python's ipaddress does: of 32 bits where it fits, else of 128.
func asAddress(v any) any {
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
	return alone(netip.AddrFrom16([16]byte(n.FillBytes(make([]byte, 16))))).text()
}

// ipOf is the text of an address of that version for which the options hold, else nil.
func ipOf(v any, version int, options any) (any, error) {
	if err := undefinedIn(v); err != nil {
		return nil, err
	}
	s, ok := py.Text(v)
	if !ok {
		return nil, nil
	}
	p, explicit, ok := parsePrefix(s)
	if !ok || version == 4 != p.Addr().Is4() {
		return nil, nil
	}
	if list, ok := py.Text(options); ok && list != "" {
		for o := range strings.SplitSeq(list, ",") {
			if holds, known := ipOption(strings.TrimSpace(o), p.Addr()); known && !holds {
				return nil, nil
			}
		}
	}
	if explicit {
		return p.String(), nil
	}
	return p.text(), nil
}

func isIPList(v any) bool { return isType[*py.List](v) || isType[*py.Tuple](v) || isType[*py.Iter](v) }

// ipFilter keeps the addresses of a version, 0 for both.
func ipFilter(r *run, v any, version int, options any) (any, error) {
	versions := []int{version}
	if version == 0 {
		versions = []int{4, 6}
	}
	if !isIPList(v) {
		for _, n := range versions {
			if s, err := ipOf(v, n, options); s != nil || err != nil {
				return s, err
			}
		}
		return nil, nil
	}
	items, err := py.Collect(r.work, v)
	if err != nil {
		return nil, err
	}
	out := py.NewList()
	for _, n := range versions {
		for _, item := range items {
			s, err := ipOf(asAddress(item), n, options)
			if err != nil {
				return nil, err
			}
			if s != nil {
				out.Items = append(out.Items, s)
			}
		}
	}
	return out, nil
}

// perAddress applies f to the address, or to each of a list.
func perAddress(f func(r *run, p network) (any, error)) func(r *run, a []any) (any, error) {
	return func(r *run, a []any) (any, error) {
		version := int64(0)
		if a[2] != nil {
			var err error
			if version, err = py.Whole(a[2]); err != nil {
				return nil, err
			}
		}
		got, err := ipFilter(r, a[0], int(version), a[1])
		if err != nil {
			return nil, err
		}
		l, isList := got.(*py.List)
		if !isList {
			s, ok := got.(string)
			if !ok {
				return nil, nil
			}
			p, _, _ := parsePrefix(s)
			return f(r, p)
		}
		if len(l.Items) == 0 {
			return nil, nil
		}
		out := py.NewList()
		for _, item := range l.Items {
			p, _, _ := parsePrefix(item.(string))
			v, err := f(r, p)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, v)
		}
		return out, nil
	}
}

func hostOf(_ *run, p network) (any, error) { return p.String(), nil }

func sizeOf(r *run, p network) (any, error) {
	return py.Binary(r.work, "**", int64(2), int64(p.Addr().BitLen()-p.Bits()))
}

func hostsOf(r *run, p network) (any, error) {
	bits := p.Addr().BitLen() - p.Bits()
	out := py.NewList()
	if bits > 24 { // Unlike Salt, which would count for ever
		return nil, py.Errorf("OverflowError", "the network %s has too many hosts to list", p)
	}
	a := p.Masked().Addr()
	n := 1 << bits
	for i := range n {
		skip := bits > 1 && (i == 0 || i == n-1 && a.Is4())
		if !skip {
			out.Items = append(out.Items, alone(a).text())
			if err := r.work.Grow(48); err != nil {
				return nil, err
			}
		}
		a = a.Next()
	}
	return out, nil
}

func ipwrap(r *run, a []any) (any, error) {
	wrap := func(v any) (any, error) {
		s, err := ipOf(v, 6, nil)
		if s == nil || err != nil {
			return v, err
		}
		text, _ := py.Text(v)
		addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
		if err != nil {
			return nil, py.Errorf("ValueError", "%s does not appear to be an IPv4 or IPv6 address", quote(text))
		}
		return "[" + alone(addr).text() + "]", nil
	}
	if !isType[*py.List](a[0]) && !isType[*py.Tuple](a[0]) {
		return wrap(a[0])
	}
	items, err := py.Collect(r.work, a[0])
	for i := range items {
		if err == nil {
			items[i], err = wrap(items[i])
		}
	}
	return &py.List{Items: items}, err
}

func byNetworks(r *run, a []any) (any, error) {
	if a[1] == nil {
		return a[0], nil
	}
	names, err := py.Collect(r.work, a[1])
	if err != nil {
		return nil, err
	}
	var nets []netip.Prefix
	for _, n := range names {
		s, _ := py.Text(n)
		p, _, ok := parsePrefix(s)
		if !ok {
			return nil, py.Errorf("ValueError", "%s does not appear to be an IPv4 or IPv6 network", quote(s))
		}
		if p.Prefix != p.Masked() {
			return nil, py.Errorf("ValueError", "%s has host bits set", s)
		}
		nets = append(nets, p.Prefix)
	}
	if d, ok := a[0].(*py.Dict); ok {
		out := py.NewDict()
		for k, v := range d.All() {
			l, err := inNetworks(r, v, nets)
			if err != nil {
				return nil, err
			}
			if err := out.Set(k, l); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return inNetworks(r, a[0], nets)
}

func inNetworks(r *run, v any, nets []netip.Prefix) (any, error) {
	items, err := py.Collect(r.work, v)
	if err != nil {
		return nil, err
	}
	out := py.NewList()
	for _, item := range items {
		s, _ := py.Text(item)
		addr, err := netip.ParseAddr(s)
		if err != nil {
			return nil, py.Errorf("ValueError", "%s does not appear to be an IPv4 or IPv6 address", quote(s))
		}
		for _, n := range nets {
			if n.Contains(addr) {
				out.Items = append(out.Items, item)
			}
		}
	}
	return out, nil
}

func macBytes(s string, _ []any) (any, error) {
	if len(s) == 17 {
		s = strings.ReplaceAll(s, s[2:3], "")
	}
	if len(s) != 12 {
		return nil, py.Errorf("ValueError", "Invalid MAC address")
	}
	var out []byte
	for i := 0; i < 12; i += 2 {
		n, err := strconv.ParseUint(s[i:i+2], 16, 8)
		if err != nil {
			return nil, py.Errorf("ValueError", "invalid literal for int() with base 16: %s", quote(s[i:i+2]))
		}
		out = append(out, byte(n))
	}
	return py.Bytes(out), nil
}

func genMAC(r *run, a []any) (any, error) {
	s, err := py.Str(r.work, a[0])
	for _, c := range randomBytes(3) {
		s += ":" + strings.ToUpper(strconv.FormatUint(uint64(c)+0x100, 16)[1:])
	}
	return s, err
}
