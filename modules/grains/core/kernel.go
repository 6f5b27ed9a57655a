package core

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"brine/modules/grains"
	"brine/modules/host/program"
	"brine/wire/payload"
	"brine/wire/python/shlex"
)

// kernelNames are the fields of uname(2).
type kernelNames struct{ kernel, node, release, version, machine string }

func readKernel() kernelNames {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return kernelNames{kernel: "Linux"}
	}
	return kernelNames{
		kernel: unix.ByteSliceToString(u.Sysname[:]), node: unix.ByteSliceToString(u.Nodename[:]),
		release: unix.ByteSliceToString(u.Release[:]), version: unix.ByteSliceToString(u.Version[:]),
		machine: unix.ByteSliceToString(u.Machine[:]),
	}
}

func (h *machine) kernelGrains() *payload.Map {
	k := h.kernel()
	return payload.M("kernel", k.kernel, "nodename", k.node, "kernelrelease", k.release, "kernelversion", k.version,
		"cpuarch", k.machine)
}

// kernelParams are the words of the kernel's command line as pairs; a word without "=" or with several has nil.
func (h *machine) kernelParams() *payload.Map {
	if !h.Exists("proc/cmdline") {
		return payload.NewMap(0)
	}
	words, err := shlex.Split(h.Read("proc/cmdline"))
	if err != nil {
		words = strings.Fields(h.Read("proc/cmdline"))
	}
	params := make([]any, 0, len(words))
	for _, w := range words {
		parts := strings.Split(w, "=")
		var value any
		if len(parts) == 2 {
			value = strings.Trim(parts[1], `"`)
		}
		params = append(params, []any{parts[0], value})
	}
	return payload.M("kernelparams", params)
}

func (h *machine) fibreChannel() *payload.Map {
	return payload.M("fibre_channel_host", h.IsDir("sys/class/fc_host"))
}

// selinux tells whether SELinux is on and how it acts; only where its tools are installed.
func (h *machine) selinux() *payload.Map {
	if program.Which("selinuxenabled") == "" {
		return payload.NewMap(0)
	}
	state := payload.M("enabled", h.IsDir("sys/fs/selinux") && h.Exists("sys/fs/selinux/enforce"))
	if program.Which("getenforce") != "" {
		mode := map[string]string{"1": "Enforcing",
			"0": "Permissive"}[strings.TrimSpace(h.Read("sys/fs/selinux/enforce"))]
		if mode == "" {
			mode = "Disabled"
		}
		state.Set("enforced", mode)
	}
	return payload.M("selinux", state)
}

// systemd is what systemctl says of its version; only where systemctl and localectl are installed.
func (h *machine) systemd() *payload.Map {
	ctl := program.Which("systemctl")
	if ctl == "" || program.Which("localectl") == "" {
		return payload.NewMap(0)
	}
	version, features := "UNDEFINED", ""
	if text, ok := grains.Output(ctl, "--version"); ok {
		lines := strings.Split(text, "\n")
		if words := strings.Fields(lines[0]); len(words) > 1 && words[0] == "systemd" && len(lines) > 1 {
			version, features = words[1], lines[1]
		}
	}
	return payload.M("systemd", payload.M("version", version, "features", features))
}

// initSystem names the program behind pid 1.
func (h *machine) initSystem() *payload.Map {
	if h.Exists("run/systemd/system") {
		return payload.M("init", "systemd")
	}
	return payload.M("init", h.initOf(strings.Fields(strings.ReplaceAll(h.Read("proc/1/cmdline"), "\x00", " "))))
}

func (h *machine) initOf(cmdline []string) string {
	if len(cmdline) == 0 {
		return "unknown"
	}
	path := cmdline[0]
	if !filepath.IsAbs(path) {
		path = program.Which(path)
	}
	if strings.HasSuffix(path, "bin/init") && h.IsFile(path) {
		return h.initInside(path)
	}
	for _, name := range []string{"supervisord", "dumb-init", "tini"} {
		if found := program.Which(name); found != "" && contains(cmdline, found) {
			return name
		}
	}
	if len(cmdline) == 1 && cmdline[0] == "runit" || contains(cmdline, "/sbin/my_init") {
		return "runit"
	}
	return "unknown"
}

// initInside looks for the name of an init system in the program itself.
func (h *machine) initInside(path string) string {
	text := strings.ToLower(h.Read(path))
	first, name := len(text), "unknown"
	for _, n := range []string{"upstart", "sysvinit", "systemd"} {
		if at := strings.Index(text, n); at >= 0 && at < first {
			first, name = at, n
		}
	}
	return name
}

func contains(words []string, w string) bool {
	for _, x := range words {
		if x == w {
			return true
		}
	}
	return false
}
