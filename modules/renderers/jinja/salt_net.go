package jinja

import (
	"net/netip"
	"strconv"
	"strings"

	"brine/modules/renderers/jinja/py"
	"brine/modules/text/ipaddress"
)

func saltNetFilters() map[string]*builtin {
	is := func(name string, versions ...int) *builtin {
		return filter(name, "ip_addr options=", func(_ *run, a []any) (any, error) {
			for _, v := range versions {
				if s, err := ipOf(ipaddress.OfNumber(a[0]), v, a[1]); s != nil || err != nil {
					return s != nil, err
				}
			}
			return false, nil
		}, nil)
	}
	only := func(name string, version int) *builtin {
		return filter(name, "value options=", func(r *run, a []any) (any, error) {
			return ipFilter(r, a[0], version, a[1])
		}, nil)
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

// ipOf is the text of an address of that version for which the options hold, else nil.
func ipOf(v any, version int, options any) (any, error) {
	if err := undefinedIn(v); err != nil {
		return nil, err
	}
	s, ok := py.Text(v)
	if !ok {
		return nil, nil
	}
	p, explicit, ok := ipaddress.Parse(s)
	if !ok || version == 4 != p.Addr().Is4() {
		return nil, nil
	}
	if list, ok := py.Text(options); ok && list != "" {
		for o := range strings.SplitSeq(list, ",") {
			if holds, known := ipaddress.Holds(strings.TrimSpace(o), p.Addr()); known && !holds {
				return nil, nil
			}
		}
	}
	if explicit {
		return p.String(), nil
	}
	return p.Text(), nil
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
			s, err := ipOf(ipaddress.OfNumber(item), n, options)
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
func perAddress(f func(r *run, p ipaddress.Network) (any, error)) func(r *run, a []any) (any, error) {
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
			p, _, _ := ipaddress.Parse(s)
			return f(r, p)
		}
		if len(l.Items) == 0 {
			return nil, nil
		}
		out := py.NewList()
		for _, item := range l.Items {
			p, _, _ := ipaddress.Parse(item.(string))
			v, err := f(r, p)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, v)
		}
		return out, nil
	}
}

func hostOf(_ *run, p ipaddress.Network) (any, error) { return p.String(), nil }

func sizeOf(r *run, p ipaddress.Network) (any, error) {
	return py.Binary(r.work, "**", int64(2), int64(p.Addr().BitLen()-p.Bits()))
}

func hostsOf(r *run, p ipaddress.Network) (any, error) {
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
			out.Items = append(out.Items, ipaddress.Alone(a).Text())
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
		return "[" + ipaddress.Alone(addr).Text() + "]", nil
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
		p, _, ok := ipaddress.Parse(s)
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
