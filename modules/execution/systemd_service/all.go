package systemd_service

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"

	"golang.org/x/sys/unix"
)

// set is a set of names of services.
type set map[string]bool

func (s set) sorted() []string {
	out := make([]string, 0, len(s))
	for name := range s {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// add puts a unit in: a service without its type, others with it. What is no unit is passed over.
func (s set) add(full string) {
	i := strings.LastIndexByte(full, '.')
	switch {
	case i < 0 || !slices.Contains(unitTypes, full[i+1:]):
	case full[i+1:] == "service":
		s[full[:i]] = true
	default:
		s[full] = true
	}
}

// units are those that have a file. A directory that is a link leads to another one of them.
func (h *host) units(root any) set {
	out := set{}
	for _, dir := range []string{"/lib/systemd/system", "/usr/lib/systemd/system", "/etc/systemd/system"} {
		dir = h.at(dir, root)
		info, err := os.Lstat(dir)
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			continue
		}
		entries, _ := os.ReadDir(dir) // one that cannot be read holds nothing
		for _, e := range entries {
			out.add(e.Name())
		}
	}
	return out
}

// scripts are the services of System V that systemd has no unit file for; known are its units, nil: not looked at yet.
func (h *host) scripts(root any, known set) []string {
	dir := h.at("/etc/init.d", root)
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			h.c.Log(slog.LevelError, "Scripts of System V are not looked at: "+loader.Message(err))
		}
		return nil
	}
	if known == nil {
		known = h.units(root)
	}
	var out []string
	for _, e := range entries {
		if !known[e.Name()] && unix.Access(filepath.Join(dir, e.Name()), unix.X_OK) == nil {
			out = append(out, e.Name())
		}
	}
	return out
}

// noRunlevel is where a host that does not know its runlevel is taken to be.
const noRunlevel = "2"

// runlevel is where the host is. Unlike Salt: the files of upstart are not asked where the program does not know.
func (h *host) runlevel() (string, error) {
	if h.level != "" {
		return h.level, nil
	}
	level := noRunlevel
	if path := h.which("runlevel"); path != "" {
		text, err := cmdmod.Run(h.c, []string{path}, quiet)
		if err != nil {
			return "", err
		}
		if words := strings.Fields(text); len(words) > 1 {
			level = words[1]
		}
	}
	h.level = level
	return level, nil
}

// scriptEnabled tells whether the runlevel of the host starts a script. Unlike Salt: its name is no pattern.
func (h *host) scriptEnabled(name string, root any) (bool, error) {
	level, err := h.runlevel()
	if err != nil {
		return false, err
	}
	entries, _ := os.ReadDir(h.at("/etc/rc"+level+".d", root))
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return starts(e.Name(), name) }), nil
}

// starts tells whether a link "S01name" starts the script of that name.
func starts(link, name string) bool {
	rest, ok := strings.CutPrefix(link, "S")
	if !ok || !strings.HasSuffix(rest, name) {
		return false
	}
	for range 3 {
		if strings.HasPrefix(rest, name) {
			return true
		}
		if rest == "" || rest[0] < '0' || rest[0] > '9' {
			return false
		}
		rest = rest[1:]
	}
	return false
}

func getAll(h *host, a rooted) (any, error) { return payload.AnyList(h.all(a.Root)), nil }

// all are the services that there are, in order.
func (h *host) all(root any) []string {
	out := h.units(root)
	for _, name := range h.scripts(root, out) {
		out[name] = true
	}
	return out.sorted()
}

// getRunning reads the fourth column of systemctl's table. Unlike Salt: a line that has none is passed over.
func getRunning(h *host, _ struct{}) (any, error) {
	text, err := h.read(quiet, nil, "--full", "--no-legend", "--no-pager")
	if err != nil {
		return nil, err
	}
	out := set{}
	for _, line := range lines(text) {
		if words := strings.Fields(line); len(words) > 3 && words[3] == "running" {
			out.add(words[0])
		}
	}
	return payload.AnyList(out.sorted()), nil
}

// inState are the units whose files are in a state.
func (h *host) inState(state string, root any) (set, error) {
	text, err := h.read(quiet, root, "--full", "--no-legend", "--no-pager", "list-unit-files")
	if err != nil {
		return nil, err
	}
	out := set{}
	for _, line := range lines(text) {
		if words := strings.Fields(line); len(words) > 1 && words[1] == state {
			out.add(words[0])
		}
	}
	return out, nil
}

// withScripts are the units in a state and the scripts that start with the host, or those that do not.
func withScripts(h *host, root any, state string, start bool) (any, error) {
	out, err := h.inState(state, root)
	if err != nil {
		return nil, err
	}
	for _, name := range h.scripts(root, nil) {
		switch starts, err := h.scriptEnabled(name, root); {
		case err != nil:
			return nil, err
		case starts == start:
			out[name] = true
		}
	}
	return payload.AnyList(out.sorted()), nil
}

func getEnabled(h *host, a rooted) (any, error) {
	return withScripts(h, a.Root, "enabled", true)
}

func getDisabled(h *host, a rooted) (any, error) {
	return withScripts(h, a.Root, "disabled", false)
}

func getStatic(h *host, a rooted) (any, error) {
	out, err := h.inState("static", a.Root)
	return payload.AnyList(out.sorted()), err
}

// execs are the programs of the services that have one.
func execs(h *host, a rooted) (any, error) {
	out := payload.NewMap(0)
	for _, name := range h.all(a.Root) {
		properties, err := h.show(name, a.Root)
		if err != nil {
			return nil, err
		}
		start, given := properties.Get("ExecStart")
		if !given {
			continue
		}
		fields, ok := start.(*payload.Map)
		if !ok {
			return nil, &loader.ArgumentError{Message: "string indices must be integers, not 'str'"}
		}
		path, given := fields.Get("path")
		if !given {
			return nil, loader.Raise("KeyError", "%s", python.Repr("path"))
		}
		out.Set(name, path)
	}
	return out, nil
}
