package mine

import (
	"fmt"
	"net/netip"
	"slices"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

type published struct {
	Interfaces any  `arg:"interfaces=None"`
	CIDRs      any  `arg:"cidrs=None"`
	WithID     bool `arg:"with_container_id=False"`
}

// getDocker sorts the published ports of all containers in the mine (docker.ps) by image and family: what a
// proxy in front of them needs.
func getDocker(c *loader.Call, a published) (any, error) {
	hosts, err := c.Call("mine.get", []any{"*", "docker.ps"}, nil)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	all, _ := hosts.(*payload.Map)
	for _, h := range all.All() {
		containers, _ := h.(*payload.Map)
		ips := inNetworks(hostAddresses(containers.Map("host"), a.Interfaces), a.CIDRs)
		for name, v := range containers.All() {
			if container, ok := v.(*payload.Map); ok && name != "host" {
				addPorts(out, container, ips, a.WithID)
			}
		}
	}
	return out, nil
}

// hostAddresses are the IPv4 addresses of a host, or of some of its interfaces.
func hostAddresses(host *payload.Map, interfaces any) []string {
	wanted := asList(interfaces)
	var out []string
	for name, v := range host.Map("interfaces").All() {
		info, _ := v.(*payload.Map)
		if len(wanted) > 0 && !slices.Contains(wanted, name) {
			continue
		}
		for _, item := range info.List("inet") {
			if m, ok := item.(*payload.Map); ok && !slices.Contains(out, m.Str("address")) {
				out = append(out, m.Str("address"))
			}
		}
	}
	return out
}

func asList(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	if !python.Truth(v) {
		return nil
	}
	return []any{v}
}

func inNetworks(ips []string, cidrs any) []string {
	list := asList(cidrs)
	if len(list) == 0 {
		return ips
	}
	var out []string
	for _, cidr := range list {
		network, err := netip.ParsePrefix(python.Str(cidr))
		if err != nil {
			continue
		}
		for _, ip := range ips {
			if addr, err := netip.ParseAddr(ip); err == nil && network.Contains(addr) && !slices.Contains(out, ip) {
				out = append(out, ip)
			}
		}
	}
	return out
}

func addPorts(out, container *payload.Map, hostIPs []string, withID bool) {
	image := container.Value("Image")
	if !out.Has(image) {
		out.Set(image, payload.NewMap(0))
	}
	byFamily, _ := out.Value(image).(*payload.Map)
	for _, p := range container.List("Ports") {
		port, ok := p.(*payload.Map)
		if !ok || port.Str("IP") == "" { // a port without address is not published
			continue
		}
		ips := []string{port.Str("IP")}
		if port.Str("IP") == "0.0.0.0" {
			ips = hostIPs
		}
		for _, ip := range ips {
			var entry any = fmt.Sprintf("%s:%s", ip, python.Str(port.Value("PublicPort")))
			if withID {
				entry = []any{entry, container.Map("Info").Value("Id")}
			}
			addEntry(byFamily, port.Value("PrivatePort"), entry)
		}
	}
}

func addEntry(byFamily *payload.Map, port, entry any) {
	if !byFamily.Has("ipv4") {
		byFamily.Set("ipv4", payload.NewMap(0))
	}
	ports := byFamily.Map("ipv4")
	list, _ := ports.Value(port).([]any)
	if !slices.ContainsFunc(list, func(x any) bool { return payload.Equal(x, entry) }) {
		list = append(list, entry)
	}
	ports.Set(port, list)
}
