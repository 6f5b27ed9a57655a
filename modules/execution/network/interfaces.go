package network

import (
	"log/slog"
	"strconv"
	"strings"

	"brine/modules/host/links"
	"brine/modules/loader"
	"brine/modules/text/ipaddress"
	"brine/wire/payload"
	"brine/wire/python"
)

// table is what interfaces returns: a map of each interface.
func table() *payload.Map {
	out := payload.NewMap(0)
	for _, i := range links.All() {
		out.Set(i.Name, described(i))
	}
	return out
}

func described(i links.Interface) *payload.Map {
	m := payload.M("up", i.Up)
	if i.Parent != "" {
		m.Set("parent", i.Parent)
	}
	if i.HWAddr != "" {
		m.Set("hwaddr", i.HWAddr)
	}
	set := func(key string, addrs []links.Address, kind string) {
		var list []any
		for _, a := range addrs {
			list = append(list, addressMap(a, kind))
		}
		if list != nil {
			m.Set(key, list)
		}
	}
	set("inet", i.Inet, "")
	set("secondary", i.Secondary, "inet")
	set("inet6", i.Inet6, "")
	return m
}

// addressMap describes an address; kind is told of secondary ones.
func addressMap(a links.Address, kind string) *payload.Map {
	m := payload.NewMap(5)
	if kind != "" {
		m.Set("type", kind)
	}
	m.Set("address", ipaddress.Alone(a.Addr).Text())
	if a.Is6() {
		m.Set("prefixlen", strconv.Itoa(a.Bits))
		m.Set("scope", a.Scope)
		return m
	}
	mask := ""
	if a.Bits > 0 {
		mask = ipaddress.Mask(a.Bits)
	}
	m.Set("netmask", mask)
	if a.Broadcast.IsValid() {
		m.Set("broadcast", a.Broadcast.String())
	} else {
		m.Set("broadcast", nil)
	}
	m.Set("label", a.Label)
	return m
}

// find finds an interface by its name.
func find(c *loader.Call, v any) (links.Interface, string) {
	for _, i := range links.All() {
		if i.Name == v {
			return i, ""
		}
	}
	text := `Interface "` + python.Str(v) + `" not in available interfaces: "` + strings.Join(names(), `", "`) + `"`
	c.Log(slog.LevelError, text)
	return links.Interface{}, text
}

func names() []string {
	var out []string
	for _, i := range links.All() {
		out = append(out, i.Name)
	}
	return out
}

// named is an interface.
type named struct {
	Iface any `arg:"iface"`
}

func hwAddr(c *loader.Call, a named) (string, error) {
	i, missing := find(c, a.Iface)
	if missing != "" {
		return missing, nil
	}
	return i.HWAddr, nil
}

func interfaceInfo(c *loader.Call, a named) (any, error) {
	i, missing := find(c, a.Iface)
	if missing != "" {
		return missing, nil
	}
	if list, ok := described(i).Get("inet"); ok {
		return list, nil
	}
	return "", nil
}

func interfaceIP(c *loader.Call, a named) (string, error) {
	i, missing := find(c, a.Iface)
	if missing != "" {
		return missing, nil
	}
	if len(i.Inet) == 0 {
		return "", nil
	}
	return i.Inet[0].String(), nil
}

// beginning is how addresses begin.
type beginning struct {
	Start any `arg:"cidr"`
}

func startsWith(_ *loader.Call, a beginning) ([]any, error) {
	start, out := python.Str(a.Start), []any{}
	for _, i := range links.All() {
		for _, addr := range i.Inet {
			if strings.HasPrefix(addr.String(), start) {
				out = append(out, addr.Label)
			}
		}
	}
	return out, nil
}
