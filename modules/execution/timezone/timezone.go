// Package timezone is the execution module timezone: the zone that the host tells its time in, and whether its clock
// keeps UTC. With timedatectl that is asked; else the files of the distribution tell it. It knows distributions of
// Linux only. It answers to salt/modules/timezone.py.
package timezone

import (
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/python"
)

// Module is the module timezone.
func Module() loader.Module {
	return loader.Module{File: "timezone", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("get_zone", getZone, "Show the time zone of the host.", "timezone.get_zone"),
			loader.Fn("get_zonecode", getZoneCode, "Show the short name of the time zone.", "timezone.get_zonecode"),
			loader.Fn("get_offset", getOffset, "Show how far the time zone is from UTC.", "timezone.get_offset"),
			loader.Fn("set_zone", setZone, "Set the time zone of the host.", "timezone.set_zone 'America/Denver'"),
			loader.Fn("zone_compare", zoneCompare, "Tell whether the host has a time zone.",
				"timezone.zone_compare 'America/Denver'"),
			loader.Fn("get_hwclock", getHWClock, "Show whether the clock of the machine keeps UTC or local time.",
				"timezone.get_hwclock"),
			loader.Fn("set_hwclock", setHWClock, "Set whether the clock of the machine keeps UTC or local time.",
				"timezone.set_hwclock UTC"),
		}
	}}
}

type (
	zone struct {
		Zone string `arg:"timezone"`
	}
	clock struct {
		Clock string `arg:"clock"`
	}
)

// has tells whether there is a program.
func has(c *loader.Call, name string) bool {
	path, _ := environ.Of(c.Ctx).Get("PATH")
	return program.WhichOn(path, name) != ""
}

// family tells whether the host is of a family of distributions.
func family(c *loader.Call, names ...string) bool {
	v, _ := c.Grain("os_family")
	for _, name := range names {
		if strings.Contains(python.Str(v), name) {
			return true
		}
	}
	return false
}

// timedatectl is what that program tells.
func timedatectl(c *loader.Call) (string, error) {
	out, err := cmdmod.RunAll(c, []string{"timedatectl"}, nil)
	if err != nil {
		return "", err
	}
	if out.Code != 0 {
		return "", loader.ExecErr("timedatectl failed: %s", out.Stderr)
	}
	return out.Stdout, nil
}

func unparsed(text string) error {
	return loader.ExecErr("Failed to parse timedatectl output: %s\nPlease file an issue with SaltStack", text)
}

var zoneLine = pattern.New(`^Time ?zone:\s+(\S+)`)

func getZone(c *loader.Call, _ struct{}) (string, error) {
	if has(c, "timedatectl") {
		text, err := timedatectl(c)
		if err != nil {
			return "", err
		}
		for line := range strings.SplitSeq(text, "\n") {
			if m := zoneLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				return m[1], nil
			}
		}
		return "", unparsed(text)
	}
	switch {
	case family(c, "RedHat", "Suse"):
		return zoneOfSysconfig()
	case family(c, "Debian", "Gentoo"):
		return zoneOfFile()
	case family(c, "NILinuxRT", "Slackware"):
		return zoneOfLink(c)
	}
	return "", loader.ExecErr("Unable to get timezone")
}

func getZoneCode(c *loader.Call, _ struct{}) (string, error) {
	return cmdmod.Run(c, []string{"date", "+%Z"}, nil)
}

func getOffset(c *loader.Call, _ struct{}) (string, error) {
	return cmdmod.Run(c, []string{"date", "+%z"}, nil)
}

func zoneCompare(c *loader.Call, a zone) (bool, error) {
	found, err := getZone(c, struct{}{})
	if err == nil {
		return found == a.Zone, nil
	}
	return sameZone(a.Zone)
}

func getHWClock(c *loader.Call, _ struct{}) (any, error) {
	if !has(c, "timedatectl") {
		return clockOfFiles(c)
	}
	text, err := timedatectl(c)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.ToLower(strings.TrimSpace(line))
		if strings.Contains(line, "rtc in local tz") {
			if strings.TrimSpace(line[strings.LastIndexByte(line, ':')+1:]) == "yes" {
				return "localtime", nil
			}
			return "UTC", nil
		}
	}
	return nil, unparsed(text)
}

func setHWClock(c *loader.Call, a clock) (bool, error) {
	if !has(c, "timedatectl") {
		return true, setClockInFiles(c, a.Clock)
	}
	local := "false"
	if a.Clock == "localtime" {
		local = "true"
	}
	out, err := cmdmod.RunAll(c, []string{"timedatectl", "set-local-rtc", local}, nil)
	return err == nil && out.Code == 0, err
}
