package core

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"brine/modules/grains"
	"brine/modules/host/program"
	"brine/wire/payload"
)

// release cuts osrelease into its parts and makes osfinger of it.
func (h *machine) release() *payload.Map {
	d := h.distro()
	text := d.Str("osrelease")
	if text == "" {
		return payload.NewMap(0)
	}
	var parts []any
	for p := range strings.SplitSeq(text, ".") {
		parts = append(parts, numberOrText(p))
	}
	out := payload.M("osrelease_info", parts)
	if n, ok := parts[0].(int64); ok {
		out.Set("osmajorrelease", n)
	}
	name := d.Str("osfullname")
	if os := d.Str("os"); slices.Contains([]string{"Debian", "Raspbian", "AlmaLinux"}, os) {
		name = os
	}
	finger := any(text)
	if !slices.Contains([]string{"Ubuntu", "Pop", "NixOS"}, d.Str("os")) {
		finger = parts[0]
	}
	return out.Set("osfinger", fmt.Sprintf("%s-%v", name, finger))
}

func numberOrText(s string) any {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && s[0] != '-' && s[0] != '+' {
		return n
	}
	return s
}

// osarch is the name the package manager has for the architecture.
func (h *machine) osarch() *payload.Map {
	machine := h.kernel().machine
	switch h.distro().Str("os_family") {
	case "Debian":
		if text, ok := grains.Output(firstOf(program.Which("dpkg"), "dpkg"), "--print-architecture"); ok {
			return payload.M("osarch", text)
		}
		return payload.M("osarch", debianArch(machine))
	case "RedHat", "Suse":
		if rpm := program.Which("rpm"); rpm != "" {
			if text, ok := grains.Output(rpm, "--eval", "%{_host_cpu}"); ok && text != "" {
				return payload.M("osarch", text)
			}
		}
	case "NILinuxRT", "Poky":
		if text, ok := grains.Output(firstOf(program.Which("opkg"), "opkg"), "print-architecture"); ok {
			return payload.M("osarch", opkgArchs(text))
		}
	}
	return payload.M("osarch", machine)
}

func debianArch(machine string) string {
	switch runtime.GOARCH {
	case "arm":
		return "armhf"
	case "386":
		return "i386"
	case "ppc64le":
		return "ppc64el"
	case "amd64", "arm64", "s390x", "riscv64":
		return runtime.GOARCH
	}
	return machine
}

// opkgArchs lists architectures by falling priority.
func opkgArchs(text string) []any {
	type arch struct {
		name     string
		priority int
	}
	var archs []arch
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "arch" {
			n, _ := strconv.Atoi(f[2])
			archs = append(archs, arch{f[1], n})
		}
	}
	slices.SortStableFunc(archs, func(a, b arch) int { return b.priority - a.priority })
	out := make([]any, len(archs))
	for i, a := range archs {
		out[i] = a.name
	}
	return out
}
