package kmod

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/modules/host/conffile"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"

	"golang.org/x/sys/unix"
)

// available goes by the files of the running kernel's modules.
func available(c *loader.Call, _ struct{}) ([]any, error) {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return nil, err
	}
	release := unix.ByteSliceToString(name.Release[:])
	dir := filepath.Join("/lib/modules", release)
	var all []string
	if text, err := os.ReadFile(filepath.Join(dir, "modules.builtin")); err == nil {
		for line := range strings.Lines(string(text)) {
			all = append(all, strings.TrimSuffix(filepath.Base(strings.TrimSuffix(line, "\n")), ".ko"))
		}
	}
	all = append(all, below(dir)...)
	if family, _ := c.Grain("os_family"); strings.Contains(python.Str(family), "Arch") {
		all = append(all, below("/lib/modules/extramodules-"+release[:min(3, len(release))]+"-ARCH")...)
	}
	slices.Sort(all)
	return payload.AnyList(all), nil
}

// below are the modules whose files are below a folder, which may be a link.
func below(dir string) (out []string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if name, _, ok := strings.Cut(filepath.Base(nameOf(d)), ".ko"); ok && err == nil && !d.IsDir() {
			out = append(out, strings.ReplaceAll(name, "-", "_"))
		}
		return nil
	})
	return out
}

func nameOf(d fs.DirEntry) string {
	if d == nil {
		return ""
	}
	return d.Name()
}

// file is where modules stand that are loaded at each boot.
func file(c *loader.Call) string {
	if _, ok := c.Grain("systemd"); ok {
		return "/etc/modules-load.d/salt_managed.conf"
	}
	return "/etc/modules"
}

// first is the name of a module before its options.
func first(line string) string {
	if words := strings.Fields(line); len(words) > 0 {
		return words[0]
	}
	return ""
}

// kept are the modules in the file.
func kept(c *loader.Call) (out []string, err error) {
	text, err := conffile.Text(file(c))
	for line := range strings.Lines(text) {
		if name := first(line); name != "" && !strings.HasPrefix(name, "#") {
			out = append(out, name)
		}
	}
	return out, err
}

// keep adds a module to the file, in the place of a comment that has it. It gives its name, if it was not there.
func keep(c *loader.Call, mod string) ([]string, error) {
	name := first(mod)
	all, err := kept(c)
	if err != nil || slices.Contains(all, name) {
		return nil, err
	}
	if known, err := checkAvailable(c, named{name}); !known || err != nil {
		return nil, err
	}
	text, err := conffile.Text(file(c))
	if err != nil {
		return nil, err
	}
	lines, done := strings.SplitAfter(text, "\n"), false
	for i, line := range lines {
		rest, commented := strings.CutPrefix(line, "#")
		if commented && strings.TrimSpace(rest) == mod {
			lines[i], done = mod+line[len(strings.TrimRight(line, "\n")):], true
		}
	}
	if n := len(lines) - 1; !done {
		if lines[n] != "" {
			lines[n] += "\n"
		}
		lines = append(lines, mod+"\n")
	}
	return []string{name}, conffile.Write(file(c), []byte(strings.Join(lines, "")))
}

// drop takes a module out of the file, or makes a comment of its line. Unlike Salt: a module whose name begins alike
// stays, and no rest of the line does.
func drop(c *loader.Call, mod string, comment bool) ([]string, error) {
	name := first(mod)
	all, err := kept(c)
	if err != nil || !slices.Contains(all, name) {
		return nil, err
	}
	_, err = conffile.Edit(file(c), func(text string) string {
		lines := strings.SplitAfter(text, "\n")
		for i, line := range lines {
			switch {
			case first(line) != name:
			case comment:
				lines[i] = "#" + line
			default:
				lines[i] = ""
			}
		}
		return strings.Join(lines, "")
	})
	return []string{name}, err
}
