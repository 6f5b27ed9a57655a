package core

import (
	"strings"

	"brine/modules/text/pattern"
	"brine/wire/payload"
)

var (
	notDigits     = pattern.New(`[^0-9]`)
	inParens      = pattern.New(`\(.+\)`)
	centosRelease = pattern.New(`\d+\.\d+`)
	leadingNumber = pattern.New(`\d[\d.]*`)
	centosName    = pattern.New(`\((.*?)\)`)
)

// legacy completes the distribution's grains from lsb data, os-release and the release files of old systems.
func (h *machine) legacy(out *payload.Map, osr map[string]string) {
	if strings.HasPrefix(strings.ToLower(out.Str("lsb_distrib_description")), "antergos") {
		out.Set("osfullname", "Antergos Linux")
	} else if !out.Has("lsb_distrib_id") {
		h.fillLSB(out, osr)
	}
	h.nameAndRelease(out, osr)
	codename(out, osr)
	if !out.Has("os") {
		out.Set("os", osName(out.Str("osfullname"), ""))
	}
	suseProduct(out, osr)
	out.Set("os_family", familyOf(out.Str("os")))
}

// fillLSB sets lsb_distrib_* where there is no lsb-release.
func (h *machine) fillLSB(out *payload.Map, osr map[string]string) {
	switch {
	case osr != nil:
		lsbFromOSRelease(out, osr)
	case h.IsFile("etc/SuSE-release"):
		h.lsbFromSuse(out)
	case h.IsFile("etc/altlinux-release"):
		h.lsbFromAlt(out)
	case h.IsFile("etc/centos-release"):
		h.lsbFromCentOS(out)
	}
}

func lsbFromOSRelease(out *payload.Map, osr map[string]string) {
	out.Set("lsb_distrib_id", strings.TrimSpace(osr["NAME"]))
	if v, ok := osr["VERSION_ID"]; ok {
		out.Set("lsb_distrib_release", v)
	}
	if v, ok := osr["VERSION_CODENAME"]; ok {
		out.Set("lsb_distrib_codename", v)
	} else {
		out.Set("lsb_distrib_codename", osr["PRETTY_NAME"])
	}
	vendor, version := cpe(osr["CPE_NAME"])
	if v := strings.ToLower(vendor); v == "suse" || v == "opensuse" {
		out.Set("os", "SUSE")
		if osr["NAME"] == "openSUSE Leap" {
			out.Set("osfullname", "Leap")
		} else if osr["VERSION"] == "Tumbleweed" {
			out.Set("osfullname", osr["VERSION"])
		}
		if version != "" && vendor == "opensuse" {
			out.Set("lsb_distrib_release", version)
		}
	}
	if words := strings.Fields(osr["PRETTY_NAME"]); strings.TrimSpace(osr["ID"]) == "mendel" && len(words) >= 3 {
		out.Set("lsb_distrib_release", words[2])
	}
}

// cpe takes vendor and version out of a CPE name, of either form.
func cpe(name string) (vendor, version string) {
	f := strings.Split(name, ":")
	if len(f) < 5 || f[0] != "cpe" {
		return "", ""
	}
	if strings.HasPrefix(f[1], "/") {
		return f[2], f[4]
	}
	if f[1] == "2.3" && len(f) > 5 {
		return strings.TrimPrefix(f[3], "*"), strings.TrimPrefix(f[5], "*")
	}
	return "", ""
}

func (h *machine) lsbFromSuse(out *payload.Map) {
	out.Set("lsb_distrib_id", "SUSE")
	version, patch, name := "", "", ""
	for line := range strings.Lines(h.Read("etc/SuSE-release")) {
		switch low := strings.ToLower(line); {
		case strings.Contains(low, "enterprise"):
			out.Set("lsb_distrib_id", "SLES")
			name = strings.TrimSpace(inParens.ReplaceAllString(line, ""))
		case strings.Contains(low, "version"):
			version = notDigits.ReplaceAllString(line, "")
		case strings.Contains(low, "patchlevel"):
			patch = notDigits.ReplaceAllString(line, "")
		}
	}
	if patch != "" {
		version += "." + patch
		if name != "" && !strings.Contains(name, "SP"+patch) {
			name += " SP" + patch
		}
	}
	out.Set("lsb_distrib_release", version).Set("lsb_distrib_codename", firstOf(name, "n.a"))
}

func (h *machine) lsbFromAlt(out *payload.Map) {
	out.Set("lsb_distrib_id", "altlinux")
	for line := range strings.Lines(h.Read("etc/altlinux-release")) {
		if words := strings.Fields(line); len(words) > 3 && words[0] == "ALT" {
			out.Set("lsb_distrib_release", words[2])
			out.Set("lsb_distrib_codename", strings.Trim(words[3], "()"))
		}
	}
}

func (h *machine) lsbFromCentOS(out *payload.Map) {
	out.Set("lsb_distrib_id", "CentOS")
	for line := range strings.Lines(h.Read("etc/centos-release")) {
		if v := centosRelease.FindString(line); v != "" {
			out.Set("lsb_distrib_release", v)
		}
		if m := centosName.FindStringSubmatch(line); m != nil {
			out.Set("lsb_distrib_codename", m[1])
		}
	}
}

// nameAndRelease sets osfullname and osrelease.
func (h *machine) nameAndRelease(out *payload.Map, osr map[string]string) {
	if !out.Has("osfullname") {
		full := firstOf(out.Str("lsb_distrib_id"), osr["NAME"])
		if strings.HasPrefix(strings.ToLower(full), "nilrt") {
			full = "nilrt"
		}
		out.Set("osfullname", strings.TrimSpace(full))
	}
	for _, old := range []string{"CentOS Linux 7", "CentOS Linux 8"} {
		if strings.Contains(out.Str("lsb_distrib_codename"), old) { // os-release lacks the minor number there
			out.Delete("lsb_distrib_release")
		}
	}
	release, ok := out.Get("lsb_distrib_release")
	if !ok {
		release = h.bestVersion(osr)
	}
	text, _ := release.(string)
	out.Set("osrelease", strings.TrimSpace(text))
}

// bestVersion is the most exact version any release file tells.
func (h *machine) bestVersion(osr map[string]string) string {
	best := osr["VERSION_ID"]
	for _, name := range []string{"etc/centos-release", "etc/redhat-release", "etc/system-release",
		"etc/debian_version"} {
		v := leadingNumber.FindString(h.Read(name))
		if strings.Count(v, ".") > strings.Count(best, ".") || best == "" {
			best = v
		}
	}
	return best
}

func codename(out *payload.Map, osr map[string]string) {
	lsb, os := out.Str("lsb_distrib_codename"), out.Str("os")
	if inside := centosName.FindStringSubmatch(lsb); inside != nil &&
		(strings.Contains(os, "Rocky") || strings.Contains(os, "AlmaLinux") || strings.Contains(os, "AstraLinuxSE")) {
		lsb = inside[1]
		if words := strings.Fields(lsb); os == "AstraLinuxSE" && len(words) > 0 {
			lsb = strings.ToLower(words[0])
		}
		out.Set("lsb_distrib_codename", lsb)
	}
	fallback, known := osr["VERSION_CODENAME"]
	if !known {
		if m := centosName.FindStringSubmatch(osr["VERSION"]); m != nil {
			fallback = m[1]
		}
	}
	name := firstOf(strings.TrimSpace(lsb), fallback)
	if strings.Contains(name, "Red Hat") {
		name = fallback
	}
	out.Set("oscodename", name)
}

// suseProduct gives SL Micro the values of its earlier releases.
func suseProduct(out *payload.Map, osr map[string]string) {
	product, ok := osr["SUSE_SUPPORT_PRODUCT"]
	if !ok {
		return
	}
	version := osr["SUSE_SUPPORT_PRODUCT_VERSION"]
	out.Set("oscodename", firstOf(osr["SUSE_PRETTY_NAME"], product+" "+version)).Set("osrelease", version)
	if product == "SUSE Linux Micro" {
		out.Set("osfullname", "SL-Micro")
	}
}
