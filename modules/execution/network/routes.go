package network

import (
	"net/netip"
	"slices"
	"strings"

	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
)

// ofFamily is a family of addresses: inet, inet6 or None for both.
type ofFamily struct {
	Family any `arg:"family=None"`
}

// routes lists the routes in the form of netstat(8), which is asked where it is installed, and else ip(8).
func routes(c *loader.Call, a ofFamily) ([]any, error) {
	family := a.Family
	if family != nil && family != "inet" && family != "inet6" {
		return nil, loader.ExecErr("Invalid address family %v", family)
	}
	ask := ipRoutes
	if program.Which("netstat") != "" {
		ask = netstatRoutes
	}
	all, err := ask(c)
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, r := range all {
		if family == nil || r.Value("addr_family") == family {
			out = append(out, r)
		}
	}
	return out, nil
}

func defaultRoute(c *loader.Call, a ofFamily) (any, error) {
	all, err := routes(c, a)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(r any) bool {
		switch r.(*payload.Map).Value("destination") {
		case "0.0.0.0", "::/0", "default":
			return false
		}
		return true
	}), nil
}

// lines are the words of each line that a program prints, from the line first on.
func lines(c *loader.Call, first int, argv ...any) ([][]string, error) {
	out, err := c.Call("cmd.run", []any{argv}, payload.M("python_shell", false))
	if err != nil {
		return nil, err
	}
	text, _ := out.(string)
	var all [][]string
	for i, line := range strings.Split(text, "\n") {
		if words := strings.Fields(line); len(words) > 0 && i >= first {
			all = append(all, words)
		}
	}
	return all, nil
}

func route(family, destination, gateway, mask, flags, iface string) *payload.Map {
	return payload.M("addr_family", family, "destination", destination, "gateway", gateway, "netmask", mask, "flags",
		flags, "interface", iface)
}

func netstatRoutes(c *loader.Call) ([]*payload.Map, error) {
	v4, err := lines(c, 2, "netstat", "-A", "inet", "-rn")
	if err != nil {
		return nil, err
	}
	v6, err := lines(c, 2, "netstat", "-A", "inet6", "-rn")
	if err != nil {
		return nil, err
	}
	var out []*payload.Map
	for _, w := range v4 {
		if len(w) > 7 {
			out = append(out, route("inet", w[0], w[1], w[2], w[3], w[7]))
		}
	}
	for _, w := range v6 {
		if len(w) == 6 || len(w) == 7 {
			out = append(out, route("inet6", w[0], w[1], "", w[2], w[len(w)-1]))
		}
	}
	return out, nil
}

// ipKinds are routes that netstat does not show.
var ipKinds = []string{"unicast", "broadcast", "throw", "unreachable", "prohibit", "blackhole", "nat", "anycast",
	"multicast"}

func ipRoutes(c *loader.Call) ([]*payload.Map, error) {
	v4, err := lines(c, 0, "ip", "-4", "route", "show", "table", "main")
	if err != nil {
		return nil, err
	}
	v6, err := lines(c, 0, "ip", "-6", "route", "show", "table", "all")
	if err != nil {
		return nil, err
	}
	var out []*payload.Map
	for _, w := range v4 {
		if r := ip4Route(w); r != nil {
			out = append(out, r)
		}
	}
	for _, w := range v6 {
		if r := ip6Route(w); r != nil {
			out = append(out, r)
		}
	}
	return out, nil
}

// after is the word behind "dev" where that stands at a place of a line.
func after(w []string, at int) string {
	if len(w) > at+1 && w[at] == "dev" {
		return w[at+1]
	}
	return ""
}

func ip4Route(w []string) *payload.Map {
	switch {
	case slices.Contains(ipKinds, w[0]):
		return nil
	case w[0] == "default" && len(w) > 2:
		return route("inet", "0.0.0.0", w[2], "0.0.0.0", "UG", after(w, 3))
	}
	p, err := loose(w[0])
	if err != nil {
		return nil
	}
	return route("inet", p.Addr().String(), "0.0.0.0", netmask(p), "U", after(w, 1))
}

func ip6Route(w []string) *payload.Map {
	switch {
	case slices.Contains(ipKinds, w[0]):
		return nil
	case w[0] == "default" && len(w) > 2:
		return route("inet6", "::/0", w[2], "", "UG", after(w, 3))
	case w[0] == "local" && len(w) > 1:
		return route("inet6", w[1]+"/128", "::", "", "U", after(w, 2))
	}
	if _, err := netip.ParsePrefix(w[0]); err != nil && !strings.Contains(w[0], ":") {
		return nil
	}
	return route("inet6", w[0], "::", "", "U", after(w, 1))
}
