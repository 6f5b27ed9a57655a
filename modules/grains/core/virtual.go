package core

import (
	"os"
	"strings"

	"brine/modules/grains"
	"brine/modules/host/program"
	"brine/modules/text/pattern"
	"brine/wire/payload"
)

// guest is the kind of machine as far as it is known.
type guest struct {
	virtual, subtype string
}

func (h *machine) virtualGrains() *payload.Map { return h.virtual().Clone() }

// detectVirtual asks the tools for virtual machines first, then looks for traces in /proc and /sys, which win.
func (h *machine) detectVirtual() *payload.Map {
	g := guest{virtual: "physical"}
	g.askPrograms(h)
	g.lookAround(h)
	if g.subtype != "" && g.virtual == "physical" {
		g.virtual = "virtual"
	}
	switch g.virtual {
	case "qemu", "kvm", "xen", "amazon":
		g.askSystemTable()
	}
	out := payload.M("virtual", g.virtual)
	if g.subtype != "" {
		out.Set("virtual_subtype", g.subtype)
	}
	return out
}

// askPrograms runs the tools in Salt's order until one knows: virt-what alone where it is installed, else
// systemd-detect-virt and dmidecode; lspci last.
func (g *guest) askPrograms(h *machine) {
	names := []string{"systemd-detect-virt", "virt-what", "dmidecode"}
	if program.Which("virt-what") != "" {
		names = []string{"virt-what"}
	}
	if h.Enabled("enable_lspci") && h.Exists("proc/bus/pci") {
		names = append(names, "lspci")
	}
	for _, name := range names {
		path := program.Which(name)
		if path == "" {
			continue
		}
		text, ok := grains.Output(path)
		if ok && g.judge(name, text) {
			return
		}
	}
}

// judge reads the output of one tool; false means that the next one is asked.
func (g *guest) judge(tool, text string) bool {
	switch tool {
	case "systemd-detect-virt":
		return g.fromSystemd(text)
	case "virt-what":
		g.fromVirtWhat(text)
	case "dmidecode":
		g.fromDMI(text)
	case "lspci":
		g.fromPCI(strings.ToLower(text))
	}
	return true
}

func (g *guest) fromSystemd(text string) bool {
	switch text {
	case "qemu", "kvm", "oracle", "xen", "bochs", "chroot", "uml", "systemd-nspawn":
		g.virtual = text
		return true
	}
	return g.firstWord(text, []hint{{"vmware", "VMware", ""}, {"microsoft", "VirtualPC", ""},
		{"lxc", "container", "LXC"}, {"podman", "container", "Podman"}, {"docker", "container", "Docker"},
		{"amazon", "Nitro", "Amazon EC2"}})
}

// hint maps a word in some output to a kind of machine.
type hint struct{ word, virtual, subtype string }

func (g *guest) firstWord(text string, hints []hint) bool {
	for _, w := range hints {
		if strings.Contains(text, w.word) {
			g.virtual = w.virtual
			if w.subtype != "" {
				g.subtype = w.subtype
			}
			return true
		}
	}
	return false
}

func (g *guest) fromVirtWhat(text string) {
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); line {
		case "kvm", "qemu", "uml", "xen":
			g.virtual = line
			return
		case "ibm_power-kvm":
			g.virtual = "kvm"
			return
		}
		if g.firstWord(line, []hint{{"lxc", "container", "LXC"}, {"docker", "container", "Docker"},
			{"vmware", "VMware", ""}, {"parallels", "Parallels", ""}, {"nutanix", "kvm", "Nutanix AHV"},
			{"hyperv", "HyperV", ""}, {"ibm_power-lpar_shared", "LPAR", "shared"}, {"ibm_power-lpar_dedicated", "LPAR",
				"dedicated"}}) {
			return
		}
	}
}

func (g *guest) fromDMI(text string) {
	for _, sign := range []string{"Vendor: QEMU", "Manufacturer: QEMU", "Vendor: Bochs", "Manufacturer: Bochs"} {
		if strings.Contains(text, sign) {
			g.virtual = "kvm"
		}
	}
	has := func(s string) bool { return strings.Contains(text, s) }
	switch {
	case g.firstWord(text, []hint{{"BHYVE", "bhyve", ""}, {"Manufacturer: oVirt", "kvm", "ovirt"},
		{"Product Name: RHEV Hypervisor", "kvm", "rhev"}, {"VirtualBox", "VirtualBox", ""}, {"VMware", "VMware", ""}}):
	case has(": Microsoft") && has("Virtual Machine"):
		g.virtual = "VirtualPC"
	case has("Parallels Software"):
		g.virtual = "Parallels"
	case has("Manufacturer: Google"), has("Vendor: SeaBIOS"):
		g.virtual = "kvm"
	case has("Manufacturer: Nutanix") && has("Product Name: AHV"):
		g.virtual, g.subtype = "kvm", "Nutanix AHV"
	}
}

func (g *guest) fromPCI(text string) {
	g.firstWord(text, []hint{{"vmware", "VMware", ""}, {"virtualbox", "VirtualBox", ""}, {"qemu", "kvm", ""},
		{"virtio", "kvm", ""}})
}

var (
	dmiProduct = pattern.New(`Product Name: ([^\r\n]*)`)
	dmiAmazon  = pattern.New(`Version: [^\r\n]+\.amazon`)
)

// askSystemTable tells Amazon's and Nutanix's machines from other KVM and Xen ones.
func (g *guest) askSystemTable() {
	tool := program.Which("dmidecode")
	if tool == "" {
		return
	}
	text, _ := grains.Output(tool, "-t", "system")
	switch {
	case strings.Contains(text, "Manufacturer: Amazon EC2"):
		if g.virtual != "xen" {
			g.virtual = "Nitro"
		}
		g.subtype = "Amazon EC2"
		if m := dmiProduct.FindAllStringSubmatch(text, -1); m != nil {
			g.subtype = "Amazon EC2 (" + m[len(m)-1][1] + ")"
		}
	case dmiAmazon.MatchString(text):
		g.subtype = "Amazon EC2"
	case strings.Contains(text, "Manufacturer: Nutanix") && strings.Contains(text, "Product Name: AHV"):
		g.subtype = "Nutanix AHV"
	}
}

// sameRoot compares the root directory with that of pid 1; unknown counts as the same.
func (h *machine) sameRoot() bool {
	own, err := os.Stat(h.Path("/"))
	if err != nil {
		return true
	}
	first, err := os.Stat(h.Path("proc/1/root") + "/.")
	return err != nil || os.SameFile(own, first)
}
