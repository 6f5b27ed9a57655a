package core

import (
	"testing"

	"brine/modules/host/program"
	"brine/wire/payload"
)

func TestFromFiles(t *testing.T) {
	t.Setenv("PATH", "")
	for _, tt := range []struct {
		name  string
		files map[string]string
		run   func(*machine) *payload.Map
		want  *payload.Map
	}{
		{"x86", map[string]string{"proc/cpuinfo": "processor\t: 0\nvendor_id\t: Auth\nmodel name\t: A: " +
			"B\nflags\t\t: fpu vme\n\nprocessor\t: 1\n"}, (*machine).cpu,
			payload.M("num_cpus", int64(2), "cpu_model", "A", "cpu_flags", []any{"fpu", "vme"})},
		{"arm", map[string]string{"proc/cpuinfo": "Processor\t: ARMv6-compatible processor\nFeatures\t: swp half\n"},
			(*machine).cpu,
			payload.M("num_cpus", int64(1), "cpu_model", "ARMv6", "cpu_flags", []any{"swp", "half"})},
		{"s390", map[string]string{"proc/cpuinfo": "vendor_id : IBM/S390\n# processors : 2\n"}, (*machine).cpu,
			payload.M("num_cpus", int64(2), "cpu_model", "IBM/S390", "cpu_flags", []any{})},
		{"no cpuinfo", nil, (*machine).cpu, payload.M("num_cpus", int64(0), "cpu_model", "Unknown", "cpu_flags", []any{})},
		{"memory", map[string]string{"proc/meminfo": "MemTotal:  2047 kB\nMemFree: 1 kB\nSwapTotal: 4096 kB\n"},
			(*machine).memory,
			payload.M("mem_total", int64(1), "swap_total", int64(4))},
		{"kernel line", map[string]string{"proc/cmdline": "root=/dev/sda ro a=b=c x=\"y z\"\n"}, (*machine).kernelParams,
			payload.M("kernelparams", []any{[]any{"root", "/dev/sda"}, []any{"ro", nil}, []any{"a", nil},
				[]any{"x", "y z"}})},
		{"systemd", map[string]string{"run/systemd/system/x": ""}, (*machine).initSystem, payload.M("init", "systemd")},
		{"init program", map[string]string{"proc/1/cmdline": "/sbin/init\x00",
			"sbin/init": "...\x00Upstart\x00systemd"}, (*machine).initSystem, payload.M("init", "upstart")},
		{"runit", map[string]string{"proc/1/cmdline": "runit\x00"}, (*machine).initSystem, payload.M("init", "runit")},
		{"other init", map[string]string{"proc/1/cmdline": "/bin/foo\x00"}, (*machine).initSystem,
			payload.M("init", "unknown")},
		{"machine id", map[string]string{"var/lib/dbus/machine-id": "abc\n"}, (*machine).machineID,
			payload.M("machine_id", "abc")},
		{"dmi", map[string]string{"sys/class/dmi/id/product_uuid": "AB-CD\n", "sys/class/dmi/id/sys_vendor": "Acme \n",
			"sys/class/dmi/id/bios_vendor": "X\xff\n"}, (*machine).hardwareGrains, payload.M("biosvendor", "X\uFFFD",
			"manufacturer", "Acme", "uuid", "ab-cd")},
		{"device tree", map[string]string{"proc/device-tree/model": "raspberrypi,4-model-b\x00",
			"proc/device-tree/serial-number": "100\x00", "proc/device-tree/system-id": "9"}, (*machine).deviceTree,
			payload.M("manufacturer", "raspberrypi", "productname", "4-model-b", "serialnumber", "100")},
		{"resolv", map[string]string{"etc/resolv.conf": "nameserver 10.0.0.1 ; x\nnameserver ::1\nnameserver " +
			"bad\nsearch a.b c.d # no\ndomain d.e\noptions ndots:2 rotate\nsortlist 130.155.160.0/255.255.240.0 " +
			"130.155.0.0\n"}, (*machine).dns, payload.M("dns", payload.M("nameservers", []any{"10.0.0.1", "::1"},
			"ip4_nameservers", []any{"10.0.0.1"}, "ip6_nameservers", []any{"::1"}, "sortlist",
			[]any{"130.155.160.0/255.255.240.0", "130.155.0.0/255.255.0.0"}, "domain", "d.e", "search",
			[]any{"a.b", "c.d"}, "options", []any{"ndots:2"}))},
		{"server id", nil, (*machine).serverID, payload.M("server_id", int64(1826842219))},
		{"lxc", map[string]string{"proc/1/cgroup": "1:name=systemd:/lxc/x\n"}, (*machine).virtualGrains,
			payload.M("virtual", "container", "virtual_subtype", "LXC")},
		{"docker", map[string]string{"proc/1/cgroup": "1:cpu:/docker/abc\n"}, (*machine).virtualGrains,
			payload.M("virtual", "container", "virtual_subtype", "Docker")},
		{"kubernetes", map[string]string{"proc/1/cgroup": "1:cpu:/kubepods/abc\n"}, (*machine).virtualGrains,
			payload.M("virtual", "virtual", "virtual_subtype", "kubernetes")},
		{"openvz", map[string]string{"proc/self/status": "Name: x\nenvID:\t7\n"}, (*machine).virtualGrains,
			payload.M("virtual", "openvzve")},
		{"qemu", map[string]string{"proc/cpuinfo": "model name : QEMU Virtual CPU\n"}, (*machine).virtualGrains,
			payload.M("virtual", "kvm")},
		{"xen", map[string]string{"proc/xen/capabilities": "", "sys/hypervisor/version/major": "4\n",
			"sys/hypervisor/version/minor": "2", "sys/hypervisor/version/extra": ".amazon",
			"sys/hypervisor/properties/features": "5"}, (*machine).xen, payload.M("virtual_hv_version", "4.2.amazon",
			"virtual_hv_version_info", []any{"4", "2", ".amazon"}, "virtual_hv_features", "5",
			"virtual_hv_features_list", []any{"writable_page_tables", "auto_translated_physmap"})},
		{"physical", nil, (*machine).virtualGrains, payload.M("virtual", "physical")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "lxc" || tt.name == "docker" || tt.name == "kubernetes" || tt.name == "openvz" ||
				tt.name == "qemu" || tt.name == "xen" || tt.name == "physical" {
				hideTools(t)
			}
			got := tt.run(root(t, tt.files))
			if !payload.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// hideTools skips the test where a detection tool is installed in one of the directories that are always searched.
func hideTools(t *testing.T) {
	t.Helper()
	for _, name := range []string{"systemd-detect-virt", "virt-what", "dmidecode"} {
		if path := program.Which(name); path != "" {
			t.Skip(path, " decides here")
		}
	}
}

func TestToolOutputs(t *testing.T) {
	for _, tt := range []struct {
		tool, text string
		want       guest
	}{
		{"systemd-detect-virt", "kvm", guest{"kvm", ""}},
		{"systemd-detect-virt", "docker", guest{"container", "Docker"}},
		{"systemd-detect-virt", "amazon", guest{"Nitro", "Amazon EC2"}},
		{"systemd-detect-virt", "microsoft", guest{"VirtualPC", ""}},
		{"virt-what", "hyperv\nqemu", guest{"HyperV", ""}},
		{"virt-what", "redhat\nkvm", guest{"kvm", ""}},
		{"virt-what", "ibm_power-lpar_shared", guest{"LPAR", "shared"}},
		{"dmidecode", "Manufacturer: QEMU", guest{"kvm", ""}},
		{"dmidecode", "Product Name: VirtualBox", guest{"VirtualBox", ""}},
		{"dmidecode", "Manufacturer: Microsoft\nProduct Name: Virtual Machine", guest{"VirtualPC", ""}},
		{"dmidecode", "Manufacturer: Nutanix\nProduct Name: AHV", guest{"kvm", "Nutanix AHV"}},
		{"lspci", "00:01 Red Hat Virtio block device", guest{"kvm", ""}},
	} {
		got := guest{virtual: "physical"}
		got.judge(tt.tool, tt.text)
		if got != tt.want {
			t.Errorf("%s %q: got %v, want %v", tt.tool, tt.text, got, tt.want)
		}
	}
}

func TestGPUs(t *testing.T) {
	text := "Slot:\t00:02.0\nClass:\tVGA compatible controller\nVendor:\tIntel " +
		"Corporation\nDevice:\tUHD\n\nSlot:\t00:03\nClass:\tEthernet\nVendor:\tX\nDevice:\tY\n\n" +
		"Slot:\t01\nClass:\t3D controller\nVendor:\tFoo Bar\nDevice:\tZ"
	want := []any{payload.M("vendor", "intel", "model", "UHD"), payload.M("vendor", "unknown", "model", "Z")}
	if got := parseGPUs(text); !payload.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestDMIFillers(t *testing.T) {
	for key, values := range map[string]map[string]bool{
		"system-serial-number": {"0000": false, "0123456789": false, "1234567": false, "To be filled by O.E.M.": false,
			"ABC123": true, "": false, "None": false},
		"system-uuid":         {"xyz": false, "4c4c4544-0034-3010-8054-b7c04f4d4e31": true},
		"system-manufacturer": {"System manufacturer": false, "Dell Inc.": true},
		"system-product-name": {"Not Specified": false, "Unknown": false, "unspecified x": false, "PowerEdge": true},
	} {
		for v, want := range values {
			if got := meaningful(key, v); got != want {
				t.Errorf("%s %q: got %v", key, v, got)
			}
		}
	}
}

func TestLocale(t *testing.T) {
	h := root(t, map[string]string{"usr/lib/locale/de_DE.utf8/x": ""})
	for _, tt := range []struct {
		all, lang          string
		language, encoding any
	}{
		{"", "", "en_US", "UTF-8"}, {"", "C", "en_US", "UTF-8"}, {"C", "", nil, nil}, {"POSIX", "", nil, nil},
		{"", "de_DE.UTF-8", "de_DE", "UTF-8"}, {"de_DE.utf8", "", "de_DE", "UTF-8"}, {"", "fr_FR.UTF-8", "en_US",
			"UTF-8"}, {"C.UTF-8", "", "en_US", "UTF-8"},
	} {
		t.Setenv("LC_ALL", tt.all)
		t.Setenv("LC_CTYPE", "")
		t.Setenv("LANG", tt.lang)
		if language, encoding := pythonLocale(h.currentLocale()); language != tt.language || encoding != tt.encoding {
			t.Errorf("LC_ALL=%s LANG=%s: got %v %v, want %v %v", tt.all, tt.lang, language, encoding, tt.language,
				tt.encoding)
		}
	}
}
