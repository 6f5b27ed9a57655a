package grains

import "brine/wire/payload"

// group is a set of grains that are found together.
type group struct {
	name string
	keys []string // every grain it may hold
	core bool     // computed before the static grains file, which overrides it
	slow bool     // may wait for a program or a name server
	run  func(h *host) *payload.Map
}

// fileGroup is the place of the static grains file among the groups.
const fileGroup = "file"

// table lists the groups in the order in which Salt runs them: a later one overrides an earlier one.
func table() []group {
	groups := append(coreNetwork(), coreSystem()...)
	for i := range groups {
		groups[i].core = true
	}
	return append(groups,
		group{name: "disks", keys: []string{"disks", "ssds"}, run: (*host).disks},
		group{name: fileGroup, run: (*host).fromFile},
		group{name: "shell", keys: []string{"shell"}, run: (*host).shell},
		group{name: "transactional", keys: []string{"transactional"}, run: (*host).transactional},
		group{name: "efi", keys: []string{"efi", "efi-secure-boot"}, run: (*host).efi},
		group{name: "lvm", keys: []string{"lvm"}, slow: true, run: (*host).lvm},
		group{name: "mdadm", keys: []string{"mdadm"}, run: (*host).mdadm},
		group{name: "process", keys: []string{"username", "groupname", "pid", "gid", "uid"}, run: (*host).process},
		group{name: "opts", keys: []string{"opts"}, run: (*host).allOpts},
		group{name: "package", keys: []string{"package"}, run: (*host).packageType},
		group{name: "resources", keys: []string{"salt_resources"}, run: (*host).resources},
		group{name: "truststore", keys: []string{"ca_truststore"}, run: (*host).truststore},
	)
}

func coreNetwork() []group {
	return []group{
		{name: "append_domain", keys: []string{"append_domain"}, run: (*host).appendDomain},
		{name: "cwd", keys: []string{"cwd"}, run: (*host).cwd},
		{name: "gateway", keys: []string{"ip_gw", "ip4_gw", "ip6_gw"}, run: (*host).gateways},
		{name: "dns", keys: []string{"dns"}, run: (*host).dns},
		{name: "fibre_channel", keys: []string{"fibre_channel_host"}, run: (*host).fibreChannel},
		{name: "fqdns", keys: []string{"fqdns"}, slow: true, run: (*host).fqdns},
		{name: "machine_id", keys: []string{"machine_id"}, run: (*host).machineID},
		{name: "master", keys: []string{"master"}, run: (*host).master},
		{name: "server_id", keys: []string{"server_id"}, run: (*host).serverID},
		{name: "hostname", keys: []string{"localhost", "fqdn", "host", "domain"}, slow: true, run: (*host).hostname},
		{name: "hwaddr", keys: []string{"hwaddr_interfaces"}, run: (*host).hwaddrs},
		{name: "id", keys: []string{"id"}, run: (*host).id},
		{name: "ip4", keys: []string{"ip4_interfaces"}, run: (*host).ip4Interfaces},
		{name: "ip6", keys: []string{"ip6_interfaces"}, run: (*host).ip6Interfaces},
		{name: "addresses", keys: []string{"ipv4", "ipv6"}, run: (*host).addresses},
		{name: "fqdn_ip", keys: []string{"fqdn_ip4", "fqdn_ip6"}, slow: true, run: (*host).fqdnAddresses},
		{name: "ip", keys: []string{"ip_interfaces"}, run: (*host).ipInterfaces},
	}
}

func coreSystem() []group {
	return []group{
		{name: "kernelparams", keys: []string{"kernelparams"}, run: (*host).kernelParams},
		{name: "locale", keys: []string{"locale_info"}, run: (*host).localeInfo},
		{name: "gpu", keys: []string{"num_gpus", "gpus"}, slow: true, run: (*host).gpus},
		{name: "kernel", keys: []string{"kernel", "nodename", "kernelrelease", "kernelversion", "cpuarch"},
			run: (*host).kernelGrains},
		{name: "selinux", keys: []string{"selinux"}, run: (*host).selinux},
		{name: "systemd", keys: []string{"systemd"}, slow: true, run: (*host).systemd},
		{name: "init", keys: []string{"init"}, run: (*host).initSystem},
		{name: "distro", keys: []string{"lsb_distrib_id", "lsb_distrib_release", "lsb_distrib_codename",
			"lsb_distrib_description", "os", "os_family", "oscodename", "osfullname", "osrelease"},
			run: (*host).distroGrains},
		{name: "cpu", keys: []string{"num_cpus", "cpu_model", "cpu_flags"}, run: (*host).cpu},
		{name: "devicetree", keys: []string{"manufacturer", "productname", "serialnumber"}, run: (*host).deviceTree},
		{name: "osarch", keys: []string{"osarch"}, slow: true, run: (*host).osarch},
		{name: "memory", keys: []string{"mem_total", "swap_total"}, run: (*host).memory},
		{name: "hardware", keys: []string{"biosversion", "biosvendor", "boardname", "productname", "manufacturer",
			"biosreleasedate", "uuid", "serialnumber"}, slow: true, run: (*host).hardwareGrains},
		{name: "virtual", keys: []string{"virtual", "virtual_subtype"}, slow: true, run: (*host).virtualGrains},
		{name: "xen", keys: []string{"virtual_hv_version", "virtual_hv_version_info", "virtual_hv_features",
			"virtual_hv_features_list"}, slow: true, run: (*host).xen},
		{name: "ps", keys: []string{"ps"}, slow: true, run: (*host).ps},
		{name: "release", keys: []string{"osrelease_info", "osmajorrelease", "osfinger"}, run: (*host).release},
		{name: "path", keys: []string{"path", "systempath"}, run: (*host).searchPath},
		{name: "python", keys: []string{"pythonexecutable", "pythonpath", "pythonversion"}, run: (*host).python},
		{name: "salt", keys: []string{"saltpath", "saltversion", "saltversioninfo", "zmqversion"}, run: (*host).salt},
	}
}

// one is a map of a single grain.
func one(name string, value any) *payload.Map { return payload.M(name, value) }

// none is no grain at all.
func none() *payload.Map { return payload.NewMap(0) }
