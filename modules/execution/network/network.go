// Package network holds the execution functions of the module network that look at this machine: its interfaces,
// addresses, networks, routes and names. Those that send anything to other hosts, or change this one, are not here. It
// answers to salt/modules/network.py and salt/utils/network.py.
package network

import (
	"os"
	"slices"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module network.
func Module() loader.Module {
	return loader.Module{File: "network", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(interfacesOf(), addresses(), calculations(), routeFunctions())
	}}
}

func interfacesOf() []loader.Func {
	return []loader.Func{
		loader.Fn("interfaces", interfaces, "Show all network interfaces with their addresses.", "network.interfaces"),
		loader.Fn("hw_addr", hwAddr, "Show the hardware address of an interface.", "network.hw_addr eth0"),
		loader.Fn("hwaddr", hwAddr, "Show the hardware address of an interface; the same as hw_addr.",
			"network.hwaddr eth0"),
		loader.Fn("interface", interfaceInfo, "Show the IPv4 addresses of an interface.", "network.interface eth0"),
		loader.Fn("interface_ip", interfaceIP, "Show the first IPv4 address of an interface.",
			"network.interface_ip eth0"),
		loader.Fn("ifacestartswith", startsWith, "List the interfaces with an IPv4 address that begins with a text.",
			"network.ifacestartswith 192.168"),
		loader.Fn("get_hostname", hostname, "Show the name of this host.", "network.get_hostname"),
	}
}

func interfaces(*loader.Call, struct{}) (*payload.Map, error) { return table(), nil }

func hostname(*loader.Call, struct{}) (string, error) { return os.Hostname() }

func addresses() []loader.Func {
	return []loader.Func{
		loader.Fn("ipaddrs", ipAddrs, "List the IPv4 addresses of this host; the same as ip_addrs.", "network.ipaddrs"),
		loader.Fn("ipaddrs6", ipAddrs6, "List the IPv6 addresses of this host; the same as ip_addrs6.",
			"network.ipaddrs6"),
		loader.Fn("ip_addrs", ipAddrs, "List the IPv4 addresses of this host, those of the loopback only where they "+
			"are "+
			"asked for. The type is public or private.", "network.ip_addrs cidr=10.0.0.0/8"),
		loader.Fn("ip_addrs6", ipAddrs6, "List the IPv6 addresses of this host.", "network.ip_addrs6"),
		loader.Fn("ip_networks", ipNetworks(4), "List the IPv4 networks that this host belongs to.",
			"network.ip_networks interface=eth0"),
		loader.Fn("ip_networks6", ipNetworks(6), "List the IPv6 networks that this host belongs to.",
			"network.ip_networks6 interface=eth0"),
		loader.Fn("subnets", subnets, "List the IPv4 networks of interfaces, without the loopback's.",
			"network.subnets interfaces=eth1"),
		loader.Fn("subnets6", subnets6, "List the IPv6 networks of this host, without the loopback's.",
			"network.subnets6"),
		loader.Fn("in_subnet", inSubnet, "Tell whether this host has an address in a network.",
			"network.in_subnet 10.0.0.0/16"),
	}
}

func calculations() []loader.Func {
	return []loader.Func{
		loader.Fn("ip_in_subnet", ipInSubnet, "Tell whether an address lies in a network.",
			"network.ip_in_subnet 172.17.0.4 172.16.0.0/12"),
		loader.Fn("convert_cidr", convertCIDR,
			"Show the first address, the netmask and the broadcast address of a network.",
			"network.convert_cidr 172.31.0.0/16"),
		loader.Fn("calc_net", calcNet, "Show the network of an address.",
			"network.calc_net 172.17.0.5 255.255.255.240"),
		loader.Fn("is_private", test(privateAddr), "Tell whether an address is a private one.",
			"network.is_private 10.0.0.3"),
		loader.Fn("is_loopback", test(loopbackAddr), "Tell whether an address is one of the loopback.",
			"network.is_loopback 127.0.0.1"),
		loader.Fn("reverse_ip", reverseIP, "Show the name that is asked for to find the name of an address.",
			"network.reverse_ip 127.0.0.1"),
		loader.Fn("iphexval", hexValue, "Show an IPv4 address in hexadecimal.", "network.iphexval 10.0.0.1"),
	}
}

func routeFunctions() []loader.Func {
	return []loader.Func{
		loader.Fn("routes", routes, "List the routes of the main table; family is inet or inet6.", "network.routes"),
		loader.Fn("default_route", defaultRoute, "List the default routes; family is inet or inet6.",
			"network.default_route"),
	}
}

func valueError(format string, a ...any) error { return loader.Raise("ValueError", format, a...) }

// notAddress is Python's error for what is no address.
func notAddress(v any, what string) error {
	return valueError("%s does not appear to be an IPv4 or IPv6 %s", python.Repr(v), what)
}
