package core

import (
	"net/netip"
	"slices"
	"strings"

	"brine/wire/payload"
)

// resolvConf is what a resolver configuration says.
type resolvConf struct {
	servers, servers4, servers6, sortlist, search, options []string
	domain                                                 string
}

func (h *machine) dns() *payload.Map {
	name := "run/systemd/resolve/resolv.conf"
	if !h.Exists(name) {
		name = "etc/resolv.conf"
		if !h.Exists(name) {
			return payload.NewMap(0)
		}
	}
	r := parseResolv(h.Read(name))
	return payload.M("dns", payload.M("nameservers", payload.AnyList(r.servers), "ip4_nameservers",
		payload.AnyList(r.servers4), "ip6_nameservers", payload.AnyList(r.servers6), "sortlist",
		payload.AnyList(r.sortlist), "domain", r.domain, "search", payload.AnyList(r.search), "options",
		payload.AnyList(r.options)))
}

func parseResolv(text string) resolvConf {
	var r resolvConf
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		args := words[1:]
		if i := slices.IndexFunc(args, func(w string) bool { return w[0] == '#' || w[0] == ';' }); i >= 0 {
			args = args[:i]
		}
		switch directive := strings.ToLower(words[0]); {
		case directive == "search":
			r.search = args
		case len(args) == 0:
		case directive == "nameserver":
			r.server(args[0])
		case directive == "domain":
			r.domain = args[0]
		case directive == "options":
			addNew(&r.options, args[0])
		case directive == "sortlist":
			for _, a := range args {
				if net := sortNet(a); net != "" {
					addNew(&r.sortlist, net)
				}
			}
		}
	}
	return r
}

func (r *resolvConf) server(text string) {
	a, err := netip.ParseAddr(text)
	if err != nil {
		return
	}
	addNew(&r.servers, a.String())
	if a.Is4() {
		addNew(&r.servers4, a.String())
	} else {
		addNew(&r.servers6, a.String())
	}
}

func addNew(list *[]string, s string) {
	if !slices.Contains(*list, s) {
		*list = append(*list, s)
	}
}

// sortNet writes a sortlist entry as network/netmask; an address without mask gets that of its class.
func sortNet(text string) string {
	addr, mask, hasMask := strings.Cut(text, "/")
	a, err := netip.ParseAddr(addr)
	if err != nil || !a.Is4() {
		return ""
	}
	if !hasMask {
		return naturalNet(a)
	}
	if m, err := netip.ParseAddr(mask); err == nil {
		return addr + "/" + m.String()
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return ""
	}
	return p.Addr().String() + "/" + maskText(p.Bits())
}

func naturalNet(a netip.Addr) string {
	bits := 24
	switch first := a.As4()[0]; {
	case first < 128:
		bits = 8
	case first < 192:
		bits = 16
	}
	return netip.PrefixFrom(a, bits).Masked().Addr().String() + "/" + maskText(bits)
}

func maskText(bits int) string {
	m := ^uint32(0) << (32 - bits)
	return netip.AddrFrom4([4]byte{byte(m >> 24), byte(m >> 16), byte(m >> 8), byte(m)}).String()
}
