package tool

import (
	"fmt"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Version is brine's own version. SaltVersion is the Salt release as which it answers.
const (
	Version     = "0.1.0"
	SaltVersion = "3008.3"
)

// VersionLine is the output of --version, with %prog. It keeps Salt's form PROG VERSION (CODENAME), because
// scripts read the second word. brine's name is in the place of Salt's code name.
const VersionLine = "%prog " + SaltVersion + " (brine " + Version + ")"

// VersionsReport is the output of -V: blocks of right-aligned names. A line with one blank follows each block.
func VersionsReport() string {
	deps := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			deps[path.Base(strings.TrimSuffix(d.Path, "/v3"))] = d.Version
		}
	}
	shown := map[string]string{}
	for _, name := range []string{"protoactor-go", "zmq4", "msgp", "yaml", "bbolt"} {
		shown[name] = deps[name]
	}
	system := map[string]string{"dist": osRelease("PRETTY_NAME"), "machine": runtime.GOARCH, "system": runtime.GOOS}
	var uts unix.Utsname
	if unix.Uname(&uts) == nil {
		system["machine"] = unix.ByteSliceToString(uts.Machine[:])
		system["release"] = unix.ByteSliceToString(uts.Release[:])
		system["system"] = unix.ByteSliceToString(uts.Sysname[:])
	}
	return block("Salt Version", map[string]string{"Salt": SaltVersion, "brine": Version}) +
		block("Go Version", map[string]string{"Go": strings.TrimPrefix(runtime.Version(), "go")}) +
		block("Dependency Versions", shown) + block("System Versions", system)
}

func block(title string, lines map[string]string) string {
	const pad = 14 // length of Salt's longest name
	names := make([]string, 0, len(lines))
	for n := range lines {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	var b strings.Builder
	b.WriteString(title + ":\n")
	for _, n := range names {
		v := lines[n]
		if v == "" {
			v = "Not Installed"
		}
		fmt.Fprintf(&b, "%*s: %s\n", pad, n, v)
	}
	b.WriteString(" \n")
	return b.String()
}

// osRelease returns one value of /etc/os-release.
func osRelease(key string) string {
	raw, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(raw)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), key+"="); ok {
			return strings.Trim(v, `"'`)
		}
	}
	return ""
}
