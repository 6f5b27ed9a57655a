package grains

import (
	"os"
	"path/filepath"
	"sort"
	"strings"

	"brine/modules/host/program"
	"brine/wire/payload"
)

// disks sorts the block devices that are no virtual ones into rotating disks and the others.
func (h *host) disks() *payload.Map {
	rotating, solid := []any{}, []any{}
	entries, _ := os.ReadDir(h.path("sys/block"))
	for _, e := range entries {
		link, err := os.Readlink(filepath.Join(h.path("sys/block"), e.Name()))
		if err != nil || strings.HasPrefix(link, "../devices/virtual/") {
			continue
		}
		switch flag := h.read("sys/block/" + e.Name() + "/queue/rotational"); {
		case strings.HasPrefix(flag, "0"):
			solid = append(solid, e.Name())
		case strings.HasPrefix(flag, "1"):
			rotating = append(rotating, e.Name())
		}
	}
	return payload.M("disks", rotating, "ssds", solid)
}

// lvm lists logical volumes by volume group; only where lvm is installed.
func (h *host) lvm() *payload.Map {
	tool := program.Which("lvm")
	if tool == "" {
		return none()
	}
	groups := payload.NewMap(0)
	names, _ := output(tool, "vgs", "-o", "vg_name", "--noheadings")
	for vg := range strings.Lines(names) {
		volumes := []any{}
		vg = strings.TrimSpace(vg)
		list, _ := output(tool, "lvs", "-o", "lv_name", "--noheadings", vg)
		for lv := range strings.Lines(list) {
			volumes = append(volumes, strings.TrimSpace(lv))
		}
		groups.Set(vg, volumes)
	}
	return one("lvm", groups)
}

// mdadm lists software RAID devices.
func (h *host) mdadm() *payload.Map {
	if !h.exists("proc/mdstat") {
		return none()
	}
	seen := map[string]bool{}
	for line := range strings.Lines(h.read("proc/mdstat")) {
		if strings.HasPrefix(line, "Personalities : ") || strings.HasPrefix(line, "unused devices:") {
			continue
		}
		if name, _, ok := strings.Cut(line, " : "); ok {
			seen[name] = true
		}
	}
	devices := make([]string, 0, len(seen))
	for name := range seen {
		devices = append(devices, name)
	}
	sort.Strings(devices)
	return one("mdadm", payload.AnyList(devices))
}

func (h *host) transactional() *payload.Map {
	return one("transactional", program.Which("transactional-update") != "")
}

// efi tells whether the machine was booted by EFI, and with secure boot.
func (h *host) efi() *payload.Map {
	secure := false
	dir := ""
	for _, d := range []string{"sys/firmware/efi/efivars", "sys/firmware/efi/vars"} {
		if h.exists(d) {
			dir = d
			break
		}
	}
	if dir != "" {
		pattern := filepath.Join(h.path(dir), "SecureBoot-*")
		if filepath.Base(dir) == "vars" {
			pattern = filepath.Join(pattern, "data")
		}
		if found, _ := filepath.Glob(pattern); len(found) == 1 {
			b, err := os.ReadFile(found[0])
			secure = err == nil && len(b) > 0 && b[len(b)-1] == 1
		}
	}
	return payload.M("efi", dir != "", "efi-secure-boot", secure)
}
