package core

import (
	"strconv"
	"strings"

	"brine/modules/text/pattern"
	"brine/wire/payload"
)

var vzEnv = pattern.New(`(?m)^envID:\s+(\d+)$`)

// lookAround reads the traces hypervisors and container engines leave in /proc and /sys.
func (g *guest) lookAround(h *machine) {
	if !h.sameRoot() {
		g.subtype = "chroot"
	}
	g.openVZ(h)
	if h.IsDir("proc/sys/xen") || h.IsDir("sys/bus/xen") || h.IsDir("proc/xen") {
		g.xen(h)
	}
	if strings.Contains(h.Read("proc/cpuinfo"), "QEMU Virtual CPU") {
		g.virtual = "kvm"
	}
	g.firstWord(h.Read("sys/devices/virtual/dmi/id/product_name"), []hint{{"VirtualBox", "VirtualBox", ""},
		{"RHEV Hypervisor", "kvm", "rhev"}, {"oVirt Node", "kvm", "ovirt"}, {"Google", "gce", ""},
		{"BHYVE", "bhyve", ""}})
	g.container(h)
}

func (g *guest) openVZ(h *machine) {
	switch {
	case h.IsFile("proc/vz/version"):
		g.virtual = "openvzhn"
	case h.IsFile("proc/vz/veinfo"):
		g.virtual = "openvzve"
	}
	if m := vzEnv.FindStringSubmatch(h.Read("proc/self/status")); m != nil {
		g.virtual = "openvzve"
		if n, err := strconv.Atoi(m[1]); err == nil && n == 0 {
			g.virtual = "openvzhn"
		}
	}
}

func (g *guest) xen(h *machine) {
	switch {
	case h.IsFile("proc/xen/xsd_kva"):
		g.subtype = "Xen Dom0"
	case h.hardware().Str("productname") == "HVM domU":
		g.subtype = "Xen HVM DomU"
	case h.IsFile("proc/xen/capabilities") && h.Readable("proc/xen/capabilities"):
		g.subtype = "Xen Dom0"
		if !strings.Contains(h.Read("proc/xen/capabilities"), "control_d") {
			g.subtype = "Xen PV DomU"
		}
	case h.IsDir("sys/bus/xen/drivers/xenconsole"):
		g.subtype = "Xen PV DomU"
	}
	if strings.Contains(strings.ToLower(g.subtype), "dom") {
		g.virtual = "xen"
	}
}

func (g *guest) container(h *machine) {
	groups := h.Read("proc/1/cgroup")
	switch {
	case strings.Contains(groups, ":/lxc/"):
		g.virtual, g.subtype = "container", "LXC"
	case strings.Contains(groups, ":/kubepods/"):
		g.subtype = "kubernetes"
	case strings.Contains(groups, ":/libpod_parent/"):
		g.subtype = "libpod"
	default:
		g.firstWord(groups, []hint{{":/system.slice/docker", "container", "Docker"}, {":/docker/", "container",
			"Docker"},
			{":/docker-ce/", "container", "Docker"}})
	}
	if g.subtype != "LXC" && strings.Contains(h.Read("proc/1/environ"), "container=lxc") {
		g.virtual, g.subtype = "container", "LXC"
	}
}

// xenFeatures names the bits of the hypervisor's feature word (xen/interface/features.h).
const xenFeatures = `0 writable_page_tables
1 writable_descriptor_tables
2 auto_translated_physmap
3 supervisor_mode_kernel
4 pae_pgdir_above_4gb
5 mmu_pt_update_preserve_ad
7 gnttab_map_avail_bits
8 hvm_callback_vector
9 hvm_safe_pvclock
10 hvm_pirqs
11 dom0
12 grant_map_identity
13 memory_op_vnode_supported
14 ARM_SMCCC_supported`

// xen tells version and features of a Xen hypervisor, on Xen only.
func (h *machine) xen() *payload.Map {
	out := payload.NewMap(4)
	if !strings.Contains(h.virtual().Str("virtual"), "xen") {
		return out
	}
	part := func(name string) string { return strings.TrimSpace(h.Read("sys/hypervisor/version/" + name)) }
	if h.Readable("sys/hypervisor/version/major") {
		major, minor, extra := part("major"), part("minor"), part("extra")
		out.Set("virtual_hv_version", major+"."+minor+extra)
		out.Set("virtual_hv_version_info", []any{major, minor, extra})
	}
	word := strings.TrimSpace(h.Read("sys/hypervisor/properties/features"))
	bits, err := strconv.ParseUint(word, 16, 64)
	if err != nil {
		return out
	}
	names := []any{}
	for line := range strings.Lines(xenFeatures) {
		bit, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(bit); err == nil && bits&(1<<n) != 0 {
			names = append(names, name)
		}
	}
	return out.Set("virtual_hv_features", word).Set("virtual_hv_features_list", names)
}

// ps is the command that lists processes.
func (h *machine) ps() *payload.Map {
	switch {
	case h.virtual().Str("virtual") == "openvzhn":
		return payload.M("ps",
			`ps -fH -p $(grep -l "^envID:[[:space:]]*0\$" /proc/[0-9]*/status | sed -e "s=/proc/\([0-9]*\)/.*=\1=")  | awk '{ $7=""; print }'`)
	case h.distro().Str("os_family") == "NILinuxRT":
		return payload.M("ps", "ps -o user,pid,ppid,tty,time,comm")
	}
	return payload.M("ps", "ps -efHww")
}
