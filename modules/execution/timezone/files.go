package timezone

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/conffile"
	"brine/modules/host/plainfile"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/disk/wholefile"
	"brine/wire/python"
)

// Files of time zones.
const (
	zones     = "/usr/share/zoneinfo/"
	localtime = "/etc/localtime"
	ofDebian  = "/etc/timezone"
	ofRedHat  = "/etc/sysconfig/clock"
	adjtime   = "/etc/adjtime"
	maxZone   = 1 << 20 // bytes of a zone
)

// fileOf is the file of a zone. Unlike Salt: a name that leads out of the folder of zones is refused.
func fileOf(name string) (string, error) {
	if name == "" || strings.HasPrefix(name, "-") || !filepath.IsLocal(name) || strings.ContainsAny(name, "\x00\n\r") {
		return "", loader.InvocErr("%s is no name of a time zone", python.Repr(name))
	}
	return zones + name, nil
}

// setZone is also told where there is no such zone, by a text, as in the reference.
func setZone(c *loader.Call, a zone) (any, error) {
	file, err := fileOf(a.Zone)
	if err != nil {
		return nil, err
	}
	if has(c, "timedatectl") {
		if _, err := cmdmod.RunAll(c, []string{"timedatectl", "set-timezone", a.Zone}, nil); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(file); err != nil {
		return "Zone does not exist: " + file, nil
	}
	if err := link(file, localtime); err != nil {
		return nil, err
	}
	switch {
	case family(c, "RedHat"):
		err = setLine(ofRedHat, "ZONE=", `"`+a.Zone+`"`)
	case family(c, "Suse"):
		err = setLine(ofRedHat, "TIMEZONE=", `"`+a.Zone+`"`)
	case family(c, "Debian", "Gentoo"):
		if err = conffile.Write(ofDebian, []byte(strings.TrimSpace(a.Zone)+"\n")); err != nil {
			err = loader.ExecErr("%s cannot be written: %s", ofDebian, loader.Message(err))
		}
	}
	return err == nil, err
}

// link makes a link in the place of what is there, without a moment in between.
func link(target, path string) error {
	if now, err := os.Readlink(path); err == nil && now == target {
		return nil
	}
	temp := filepath.Join(filepath.Dir(path), wholefile.TempPrefix+rand.Text())
	if err := os.Symlink(target, temp); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}

// setLine replaces the rest of lines that begin with a word. A file that is not there stays so.
func setLine(file, begin, rest string) error {
	_, err := conffile.Edit(file, func(text string) string {
		lines := strings.SplitAfter(text, "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, begin) {
				lines[i] = begin + rest + line[len(strings.TrimRight(line, "\n")):]
			}
		}
		return strings.Join(lines, "")
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

var clockLine = pattern.New(`(?m)^[^#\n]*ZONE[^\n]*=[ '"]*([^='"\n]*)['" ]*$`)

func zoneOfSysconfig() (string, error) {
	text, err := conffile.Text(ofRedHat)
	if err != nil {
		return "", err
	}
	if m := clockLine.FindStringSubmatch(text); m != nil {
		if m[1] == "" {
			return "UTC", nil
		}
		return m[1], nil
	}
	return "", loader.ExecErr("Unable to get timezone from %s", ofRedHat)
}

func zoneOfFile() (string, error) {
	text, err := conffile.Read(ofDebian)
	if err != nil {
		return "", loader.ExecErr("Problem reading timezone file %s: %s", ofDebian, reason(err))
	}
	return strings.TrimSpace(string(text)), nil
}

// reason is the system's text of an error, without the path.
func reason(err error) string {
	text := loader.Message(err)
	if _, after, ok := strings.Cut(text, "] "); ok {
		text, _, _ = strings.Cut(after, ": ")
	}
	return text
}

// zoneOfLink goes by where /etc/localtime leads to.
func zoneOfLink(_ *loader.Call) (string, error) {
	target, err := os.Readlink(localtime)
	if errors.Is(err, fs.ErrNotExist) {
		return "", loader.ExecErr("%s does not exist", localtime)
	}
	if err == nil {
		if name, ok := strings.CutPrefix(filepath.Join("/etc", target), zones); ok && !filepath.IsAbs(target) {
			return name, nil
		}
		if name, ok := strings.CutPrefix(filepath.Clean(target), zones); ok {
			return name, nil
		}
		return "", loader.ExecErr("Unable to determine timezone")
	}
	return zoneOfCopy()
}

// zoneOfCopy looks for the zone that /etc/localtime is a copy of.
func zoneOfCopy() (string, error) {
	own, err := plainfile.Read(localtime, maxZone)
	if err != nil {
		return "", err
	}
	name := ""
	err = filepath.WalkDir(zones, func(path string, d fs.DirEntry, err error) error {
		rest, _ := strings.CutPrefix(path, zones)
		if err != nil || d.IsDir() || rest == "" || rest[0] >= 'a' && rest[0] <= 'z' {
			return nil
		}
		if other, err := plainfile.Read(path, maxZone); err == nil && bytes.Equal(own, other) {
			name = rest
			return filepath.SkipAll
		}
		return nil
	})
	if err != nil || name == "" {
		return "", loader.ExecErr("Unable to determine timezone")
	}
	return name, nil
}

// sameZone compares the zone of the host with the file of another.
func sameZone(name string) (bool, error) {
	file, err := fileOf(name)
	if err != nil {
		return false, err
	}
	own, err := plainfile.Read(localtime, maxZone)
	if err != nil {
		return false, loader.ExecErr("Failed to read %s to determine current timezone: %s", localtime, reason(err))
	}
	other, err := plainfile.Read(file, maxZone)
	if err != nil {
		return false, loader.InvocErr(`Can't find a local timezone "%s"`, name)
	}
	return bytes.Equal(own, other), nil
}

// clockOfFiles is what the files of the distribution say of the clock; nil where it has none.
func clockOfFiles(c *loader.Call) (any, error) {
	switch {
	case family(c, "Debian"):
		text, _ := conffile.Text("/etc/default/rcS")
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(strings.TrimSpace(line), "#") && strings.Contains(line, "UTC=") {
				if strings.ToLower(strings.TrimSpace(line[strings.LastIndexByte(line, '=')+1:])) == "yes" {
					return "UTC", nil
				}
				return "localtime", nil
			}
		}
		return clockOfAdjtime(c)
	case family(c, "Gentoo", "Slackware"):
		if _, err := os.Stat(adjtime); err != nil {
			return clockOfInit(c)
		}
		return clockOfAdjtime(c)
	case family(c, "RedHat", "Suse", "NILinuxRT"):
		return clockOfAdjtime(c)
	}
	return nil, nil
}

// clockOfInit is what the file of init scripts says.
func clockOfInit(c *loader.Call) (any, error) {
	if family(c, "Slackware") {
		text, err := conffile.Text("/etc/hardwareclock")
		if text == "" || strings.Contains("\n"+text, "\nUTC") {
			return "UTC", err
		}
		return "localtime", nil
	}
	const file = "/etc/conf.d/hwclock"
	text, err := conffile.Read(file)
	if err != nil {
		return nil, loader.ExecErr("Problem reading offset file %s: %s", file, reason(err))
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "clock="); ok {
			switch strings.Trim(rest, `'"`) {
			case "UTC":
				return "UTC", nil
			case "local":
				return "LOCAL", nil
			}
		}
	}
	return nil, loader.ExecErr("Correct offset value not found in %s", file)
}

// clockOfAdjtime is the last line of /etc/adjtime.
func clockOfAdjtime(_ *loader.Call) (any, error) {
	text, err := conffile.Read(adjtime)
	if err == nil {
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		return lines[len(lines)-1], nil
	}
	if _, err := os.Stat("/dev/rtc"); err == nil {
		return nil, loader.ExecErr("Unable to get hwclock timezone from %s", adjtime)
	}
	return nil, nil
}

// setClockInFiles writes to the files of the distribution what the clock keeps.
func setClockInFiles(c *loader.Call, keeps string) error {
	if family(c, "NILinuxRT") {
		if !strings.EqualFold(keeps, "utc") {
			return loader.InvocErr("UTC is the only permitted value")
		}
		return nil
	}
	name, err := getZone(c, struct{}{})
	if err != nil {
		return err
	}
	file, err := fileOf(name)
	if err != nil {
		return err
	}
	if _, err := os.Stat(file); err != nil {
		return loader.ExecErr("Zone '%s' does not exist", file)
	}
	if keeps != "UTC" && keeps != "localtime" && family(c, "Gentoo", "Slackware") {
		return loader.InvocErr("Only 'UTC' and 'localtime' are allowed")
	}
	if err := link(file, localtime); err != nil {
		return err
	}
	switch {
	case family(c, "RedHat"):
		return setLine(ofRedHat, "ZONE=", `"`+name+`"`)
	case family(c, "Suse"):
		return setLine(ofRedHat, "TIMEZONE=", `"`+name+`"`)
	case family(c, "Debian") && keeps == "UTC":
		return setLine("/etc/default/rcS", "UTC=", "yes")
	case family(c, "Debian") && keeps == "localtime":
		return setLine("/etc/default/rcS", "UTC=", "no")
	case family(c, "Gentoo"):
		return setLine("/etc/conf.d/hwclock", "clock=", `"`+strings.TrimSuffix(keeps, "time")+`"`)
	}
	return nil
}
