// Package network holds the execution functions of the module network that look at this machine: its interfaces, addresses,
// networks, routes and names. Those that send anything to other hosts, or change this one, are not here. It answers to
// salt/modules/network.py and salt/utils/network.py.
package network

import (
	"os"

	"brine/modules/loader"
	"brine/modules/text/pytext"
)

// Functions lists the functions of the module.
func Functions() []loader.Func {
	all := append(append(append(interfacesOf(), addresses()...), calculations()...), routeFunctions()...)
	for i := range all {
		all[i].Source = "salt/modules/network.py"
	}
	return all
}

// run is the body of a function.
type run = func(*loader.Call, loader.Args) (any, error)

// fn declares a function; example is what stands behind its name on a command line.
func fn(name, doc, example string, f run, params ...loader.Param) loader.Func {
	if example != "" {
		example = " " + example
	}
	return loader.Func{Name: "network." + name, Params: params, Run: f, Doc: doc + "\n\nCLI Example:\n\n    salt '*' network." + name + example}
}

func interfacesOf() []loader.Func {
	iface := loader.Req("iface")
	return []loader.Func{
		fn("interfaces", "Show all network interfaces with their addresses.", "", func(*loader.Call, loader.Args) (any, error) { return table(), nil }),
		fn("hw_addr", "Show the hardware address of an interface.", "eth0", hwAddr, iface),
		fn("hwaddr", "Show the hardware address of an interface; the same as hw_addr.", "eth0", hwAddr, iface),
		fn("interface", "Show the IPv4 addresses of an interface.", "eth0", interfaceInfo, iface),
		fn("interface_ip", "Show the first IPv4 address of an interface.", "eth0", interfaceIP, iface),
		fn("ifacestartswith", "List the interfaces with an IPv4 address that begins with a text.", "192.168", startsWith, loader.Req("cidr")),
		fn("get_hostname", "Show the name of this host.", "", func(*loader.Call, loader.Args) (any, error) { return os.Hostname() }),
	}
}

func addresses() []loader.Func {
	iface, loopback := loader.Opt("interface", nil), loader.Opt("include_loopback", false)
	type4, cidr := loader.Opt("type", nil), loader.Opt("cidr", nil)
	return []loader.Func{
		fn("ipaddrs", "List the IPv4 addresses of this host; the same as ip_addrs.", "", ipAddrs, iface, loopback, cidr, type4),
		fn("ipaddrs6", "List the IPv6 addresses of this host; the same as ip_addrs6.", "", ipAddrs6, iface, loopback, cidr),
		fn("ip_addrs", `List the IPv4 addresses of this host, those of the loopback only where they are asked for. The type is public or private.`,
			"cidr=10.0.0.0/8", ipAddrs, iface, loopback, cidr, type4),
		fn("ip_addrs6", "List the IPv6 addresses of this host.", "", ipAddrs6, iface, loopback, cidr),
		fn("ip_networks", "List the IPv4 networks that this host belongs to.", "interface=eth0", ipNetworks(4), iface, loopback, loader.Opt("verbose", false)),
		fn("ip_networks6", "List the IPv6 networks that this host belongs to.", "interface=eth0", ipNetworks(6), iface, loopback, loader.Opt("verbose", false)),
		fn("subnets", "List the IPv4 networks of interfaces, without the loopback's.", "interfaces=eth1", subnets, loader.Opt("interfaces", nil)),
		fn("subnets6", "List the IPv6 networks of this host, without the loopback's.", "", subnets6),
		fn("in_subnet", "Tell whether this host has an address in a network.", "10.0.0.0/16", inSubnet, loader.Req("cidr")),
	}
}

func calculations() []loader.Func {
	addr := loader.Req("ip_addr")
	return []loader.Func{
		fn("ip_in_subnet", "Tell whether an address lies in a network.", "172.17.0.4 172.16.0.0/12", ipInSubnet, addr, loader.Req("cidr")),
		fn("convert_cidr", "Show the first address, the netmask and the broadcast address of a network.", "172.31.0.0/16", convertCIDR, loader.Req("cidr")),
		fn("calc_net", "Show the network of an address.", "172.17.0.5 255.255.255.240", calcNet, addr, loader.Opt("netmask", nil)),
		fn("is_private", "Tell whether an address is a private one.", "10.0.0.3", test(privateAddr), addr),
		fn("is_loopback", "Tell whether an address is one of the loopback.", "127.0.0.1", test(loopbackAddr), addr),
		fn("reverse_ip", "Show the name that is asked for to find the name of an address.", "127.0.0.1", reverseIP, addr),
		fn("iphexval", "Show an IPv4 address in hexadecimal.", "10.0.0.1", hexValue, loader.Req("ip")),
	}
}

func routeFunctions() []loader.Func {
	return []loader.Func{
		fn("routes", "List the routes of the main table; family is inet or inet6.", "", routes, loader.Opt("family", nil)),
		fn("default_route", "List the default routes; family is inet or inet6.", "", defaultRoute, loader.Opt("family", nil)),
	}
}

func valueError(format string, a ...any) error { return loader.Raise("ValueError", format, a...) }

// notAddress is Python's error for what is no address.
func notAddress(v any, what string) error {
	return valueError("%s does not appear to be an IPv4 or IPv6 %s", pytext.Repr(v), what)
}
