package core

import (
	"slices"
	"strings"

	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python/shlex"
)

// Patterns of os-release and lsb-release (salt/grains/core.py).
var (
	lsbLine        = pattern.New(`^(DISTRIB_(?:ID|RELEASE|CODENAME|DESCRIPTION))=['"]?([\w\s.\-_]+)['"]?`)
	linuxSuffix    = pattern.New(`(?i)\W(?:gnu/)?linux`)
	versionAndName = pattern.New(`^\d[\d.+\-a-z]* \((.+)\)`)
)

func (h *machine) distroGrains() *payload.Map { return h.distro().Clone() }

// readDistro finds out the distribution: os-release first, then what /etc/lsb-release and the old release files
// say. The reference has no lsb_release module of Python at hand in its own packages, so it always ends in the
// part that fills lsb_distrib_* and takes osrelease and oscodename from there; so does this.
func (h *machine) readDistro() *payload.Map {
	out := h.lsbRelease()
	osr := h.osRelease()
	if osr != nil {
		out.Update(osReleaseGrains(osr))
	}
	out.Delete("osrelease")
	h.legacy(out, osr)
	return out
}

func (h *machine) lsbRelease() *payload.Map {
	out := payload.NewMap(0)
	for line := range strings.Lines(h.Read("etc/lsb-release")) {
		if m := lsbLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			out.Set("lsb_"+strings.ToLower(m[1]), strings.TrimRight(m[2], " \t"))
		}
	}
	return out
}

// osRelease reads os-release; nil when there is none.
func (h *machine) osRelease() map[string]string {
	for _, name := range []string{"etc/os-release", "usr/lib/os-release"} {
		if h.IsFile(name) {
			return parseOSRelease(h.Read(name))
		}
	}
	return nil
}

func parseOSRelease(text string) map[string]string {
	out := map[string]string{"NAME": "Linux", "ID": "linux", "PRETTY_NAME": "Linux"}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if words, err := shlex.Split(value); err == nil {
			value = strings.Join(words, " ")
		}
		out[key] = value
	}
	return out
}

func osReleaseGrains(osr map[string]string) *payload.Map {
	out := payload.NewMap(5)
	set := func(key, value string) {
		if value != "" {
			out.Set(key, value)
		}
	}
	set("os", osName(osr["NAME"], osr["ID"]))
	set("os_family", familyName(familyID(osr["ID"], osr["ID_LIKE"])))
	set("oscodename", firstOf(osr["VERSION_CODENAME"], codenameQuirk(osr)))
	set("osfullname", strings.TrimSpace(osr["NAME"]))
	set("osrelease", osr["VERSION_ID"])
	return out
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func codenameQuirk(osr map[string]string) string {
	switch osr["ID"] {
	case "astra":
		return osr["VARIANT_ID"]
	case "almalinux", "rocky":
		if m := versionAndName.FindStringSubmatch(osr["VERSION"]); m != nil {
			return m[1]
		}
	}
	return ""
}

// osName is the short name Salt has always used for a distribution.
func osName(full, id string) string {
	switch {
	case id == "astra" && full == "Astra Linux (Orel)":
		return "AstraLinuxCE"
	case id == "astra" && full == "Astra Linux (Smolensk)":
		return "AstraLinuxSE"
	case id == "pop" && full == "Pop!_OS":
		return "Pop"
	}
	name := strings.TrimSpace(linuxSuffix.ReplaceAllString(full, ""))
	short := []rune(strings.ToLower(strings.ReplaceAll(name, " ", "")))
	if known, ok := osNames()[string(short[:min(10, len(short))])]; ok {
		return known
	}
	return name
}

func familyID(id, like string) string {
	if like == "" {
		return id
	}
	ids := append([]string{id}, strings.Fields(like)...)
	if slices.Contains(ids, "debian") || slices.Contains(ids, "ubuntu") {
		return "debian"
	}
	return ids[len(ids)-1]
}

func familyName(id string) string {
	if id == "fedora" {
		return "RedHat"
	}
	if id == "" {
		return ""
	}
	return strings.ToUpper(id[:1]) + strings.ToLower(id[1:])
}
