package core

import (
	"strings"
	"unicode/utf8"

	"brine/modules/grains"
	"brine/modules/host/program"
	"brine/modules/text/pattern"
	"brine/wire/payload"
)

func (h *machine) hardwareGrains() *payload.Map { return h.hardware().Clone() }

// readHardware takes firmware facts from sysfs, else from dmidecode or the boot loader's environment.
func (h *machine) readHardware() *payload.Map {
	switch {
	case h.Exists("sys/class/dmi/id"):
		return h.dmiFiles()
	case program.Which("dmidecode") != "":
		return dmiProgram(program.Which("dmidecode"))
	case program.Which("fw_printenv") != "":
		return bootEnv(program.Which("fw_printenv"))
	}
	return payload.NewMap(0)
}

func (h *machine) dmiFiles() *payload.Map {
	out := payload.NewMap(8)
	for _, f := range [][2]string{{"biosversion", "bios_version"}, {"biosvendor", "bios_vendor"},
		{"boardname", "board_name"}, {"productname", "product_name"}, {"manufacturer", "sys_vendor"},
		{"biosreleasedate", "bios_date"}, {"uuid", "product_uuid"}, {"serialnumber", "product_serial"}} {
		file := "sys/class/dmi/id/" + f[1]
		if !h.Readable(file) {
			continue
		}
		value := validText(strings.TrimSpace(h.Read(file)))
		if f[0] == "uuid" {
			value = strings.ToLower(value)
		}
		out.Set(f[0], value)
	}
	return out
}

// validText replaces bytes that are no text, as firmware sometimes has them.
func validText(s string) string { return strings.ToValidUTF8(s, string(utf8.RuneError)) }

func dmiProgram(tool string) *payload.Map {
	out := payload.NewMap(8)
	for _, f := range [][2]string{{"biosversion", "bios-version"}, {"biosvendor", "bios-vendor"},
		{"productname", "system-product-name"}, {"manufacturer", "system-manufacturer"},
		{"biosreleasedate", "bios-release-date"}, {"uuid", "system-uuid"}} {
		if v, ok := dmiString(tool, f[1]); ok {
			out.Set(f[0], v)
		}
	}
	if v := out.Str("uuid"); v != "" {
		out.Set("uuid", strings.ToLower(v))
	}
	for _, key := range []string{"system-serial-number", "chassis-serial-number", "baseboard-serial-number"} {
		if v, ok := dmiString(tool, key); ok {
			out.Set("serialnumber", v)
			break
		}
	}
	return out
}

func dmiString(tool, key string) (string, bool) {
	text, _ := grains.Output(tool, "-s", key)
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	value := strings.Join(lines, "\n")
	return value, !strings.HasPrefix(value, "/dev/mem") && meaningful(key, value)
}

func bootEnv(tool string) *payload.Map {
	out := payload.NewMap(3)
	for _, f := range [][2]string{{"manufacturer", "manufacturer"}, {"serialnumber", "serial#"},
		{"productname", "DeviceDesc"}} {
		text, ok := grains.Output(tool, f[1])
		_, value, found := strings.Cut(text, "=")
		switch {
		case !ok || !found:
		case meaningful(f[0], value):
			out.Set(f[0], value)
		default:
			out.Set(f[0], nil)
		}
	}
	return out
}

// Fillers firmware vendors leave in place of a value (salt/modules/smbios.py).
var (
	fillNone     = pattern.New(`(?i)^none`)
	fillUUID     = pattern.New(`(?i)^\{?[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\}?$`)
	fillSerial   = pattern.New(`^0+$|^0?12345678?9?0?`)
	fillSerialCI = pattern.New(`(?i)sernum|part[_-]?number|specified|filled|applicable`)
	fillAsset    = pattern.New(`(?i)manufacturer|to be filled|available|asset|^no(ne|t)`)
	fillOther    = pattern.New(
		`(?i)to be filled|un(known|specified)|no(t|ne)? (asset|provided|defined|available|present|specified)`)
	serialKeys = pattern.New(`serial|part|version`)
	assetKeys  = pattern.New(`asset|manufacturer`)
)

func meaningful(key, value string) bool {
	switch {
	case value == "" || fillNone.MatchString(value):
		return false
	case strings.Contains(key, "uuid"):
		return fillUUID.MatchString(value)
	case serialKeys.MatchString(key):
		return !fillSerial.MatchString(value) && !fillSerialCI.MatchString(value)
	case assetKeys.MatchString(key):
		return !fillAsset.MatchString(value)
	}
	return !fillOther.MatchString(value)
}

// deviceTree takes maker, model and serial number from a device tree.
func (h *machine) deviceTree() *payload.Map {
	out := payload.NewMap(3)
	property := func(name string) string { return strings.TrimRight(h.Read("proc/device-tree/"+name), "\x00") }
	if model := property("model"); model != "" {
		if maker, product, ok := strings.Cut(model, ","); ok {
			out.Set("manufacturer", maker).Set("productname", product)
		} else {
			out.Set("productname", model)
		}
	}
	if serial := firstOf(property("serial-number"), property("system-id")); serial != "" {
		out.Set("serialnumber", serial)
	}
	return out
}
