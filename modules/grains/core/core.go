// Package core holds the grains of the host: its system, hardware, network and names. Files of /proc, /sys and /etc are
// read directly and interfaces come from netlink. Answers to salt/grains/core.py.
package core

import (
	"slices"
	"sync"

	"brine/modules/grains"
	"brine/modules/host/links"
	"brine/wire/payload"
)

// Module is the grains of core.
func Module() grains.Module {
	return grains.Module{File: "core", Groups: func(h *grains.Host) []grains.Group {
		m := newMachine(h)
		return slices.Concat(m.network(), m.system())
	}}
}

// machine holds what several groups need, each computed once.
type machine struct {
	*grains.Host
	ifaces   func() []links.Interface
	fqdn     func() string
	distro   func() *payload.Map
	kernel   func() kernelNames
	hardware func() *payload.Map
	virtual  func() *payload.Map
}

func newMachine(from *grains.Host) *machine {
	h := &machine{Host: from}
	h.ifaces = sync.OnceValue(links.All)
	h.fqdn = sync.OnceValue(h.lookupFQDN)
	h.distro = sync.OnceValue(h.readDistro)
	h.kernel = sync.OnceValue(readKernel)
	h.hardware = sync.OnceValue(h.readHardware)
	h.virtual = sync.OnceValue(h.detectVirtual)
	return h
}

func (h *machine) network() []grains.Group {
	return []grains.Group{
		{Name: "append_domain", Keys: []string{"append_domain"}, Run: h.appendDomain},
		{Name: "cwd", Keys: []string{"cwd"}, Run: h.cwd},
		{Name: "gateway", Keys: []string{"ip_gw", "ip4_gw", "ip6_gw"}, Run: h.gateways},
		{Name: "dns", Keys: []string{"dns"}, Run: h.dns},
		{Name: "fibre_channel", Keys: []string{"fibre_channel_host"}, Run: h.fibreChannel},
		{Name: "fqdns", Keys: []string{"fqdns"}, Slow: true, Run: h.fqdns},
		{Name: "machine_id", Keys: []string{"machine_id"}, Run: h.machineID},
		{Name: "master", Keys: []string{"master"}, Run: h.master},
		{Name: "server_id", Keys: []string{"server_id"}, Run: h.serverID},
		{Name: "hostname", Keys: []string{"localhost", "fqdn", "host", "domain"}, Slow: true, Run: h.hostname},
		{Name: "hwaddr", Keys: []string{"hwaddr_interfaces"}, Run: h.hwaddrs},
		{Name: "id", Keys: []string{"id"}, Run: h.id},
		{Name: "ip4", Keys: []string{"ip4_interfaces"}, Run: h.ip4Interfaces},
		{Name: "ip6", Keys: []string{"ip6_interfaces"}, Run: h.ip6Interfaces},
		{Name: "addresses", Keys: []string{"ipv4", "ipv6"}, Run: h.addresses},
		{Name: "fqdn_ip", Keys: []string{"fqdn_ip4", "fqdn_ip6"}, Slow: true, Run: h.fqdnAddresses},
		{Name: "ip", Keys: []string{"ip_interfaces"}, Run: h.ipInterfaces},
	}
}

func (h *machine) system() []grains.Group {
	return []grains.Group{
		{Name: "kernelparams", Keys: []string{"kernelparams"}, Run: h.kernelParams},
		{Name: "locale", Keys: []string{"locale_info"}, Run: h.localeInfo},
		{Name: "gpu", Keys: []string{"num_gpus", "gpus"}, Slow: true, Run: h.gpus},
		{Name: "kernel", Keys: []string{"kernel", "nodename", "kernelrelease", "kernelversion", "cpuarch"},
			Run: h.kernelGrains},
		{Name: "selinux", Keys: []string{"selinux"}, Run: h.selinux},
		{Name: "systemd", Keys: []string{"systemd"}, Slow: true, Run: h.systemd},
		{Name: "init", Keys: []string{"init"}, Run: h.initSystem},
		{Name: "distro", Keys: []string{"lsb_distrib_id", "lsb_distrib_release", "lsb_distrib_codename",
			"lsb_distrib_description", "os", "os_family", "oscodename", "osfullname", "osrelease"},
			Run: h.distroGrains},
		{Name: "cpu", Keys: []string{"num_cpus", "cpu_model", "cpu_flags"}, Run: h.cpu},
		{Name: "devicetree", Keys: []string{"manufacturer", "productname", "serialnumber"}, Run: h.deviceTree},
		{Name: "osarch", Keys: []string{"osarch"}, Slow: true, Run: h.osarch},
		{Name: "memory", Keys: []string{"mem_total", "swap_total"}, Run: h.memory},
		{Name: "hardware", Keys: []string{"biosversion", "biosvendor", "boardname", "productname", "manufacturer",
			"biosreleasedate", "uuid", "serialnumber"}, Slow: true, Run: h.hardwareGrains},
		{Name: "virtual", Keys: []string{"virtual", "virtual_subtype"}, Slow: true, Run: h.virtualGrains},
		{Name: "xen", Keys: []string{"virtual_hv_version", "virtual_hv_version_info", "virtual_hv_features",
			"virtual_hv_features_list"}, Slow: true, Run: h.xen},
		{Name: "ps", Keys: []string{"ps"}, Slow: true, Run: h.ps},
		{Name: "release", Keys: []string{"osrelease_info", "osmajorrelease", "osfinger"}, Run: h.release},
		{Name: "path", Keys: []string{"path", "systempath"}, Run: h.searchPath},
		{Name: "python", Keys: []string{"pythonexecutable", "pythonpath", "pythonversion"}, Run: h.python},
		{Name: "salt", Keys: []string{"saltpath", "saltversion", "saltversioninfo", "zmqversion"}, Run: h.salt},
	}
}
