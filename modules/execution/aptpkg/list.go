package aptpkg

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// known are the packages that dpkg knows, by name with all their versions. Nobody changes one that is kept.
type known struct {
	installed, removed, purgeDesired *payload.Map
	of                               string // the state of dpkg's files it was read from
}

// list reads the packages, or takes what an earlier call has kept. Unlike Salt: what was kept does not hold when dpkg
// has changed something since, by whatever hand.
func list(c *loader.Call, useContext bool) (*known, error) {
	const key = "list_pkgs"
	now, sure := stateOfFiles()
	if v, ok := c.Context().Get(key); ok && useContext && sure && v.(*known).of == now {
		return v.(*known), nil
	}
	argv := []string{"dpkg-query", "--showformat", "${Status} ${Package} ${Version} ${Architecture}\n", "-W"}
	out, err := cmdmod.RunAll(c, argv, nil)
	if err != nil {
		return nil, err
	}
	k := &known{installed: payload.NewMap(0), removed: payload.NewMap(0), purgeDesired: payload.NewMap(0), of: now}
	foreign := foreignArch(c)
	for _, line := range out.Lines() {
		k.add(strings.Fields(line), foreign)
	}
	for _, m := range []*payload.Map{k.installed, k.removed, k.purgeDesired} {
		for name, v := range m.All() {
			m.Set(name, sorted(v.([]any)))
		}
	}
	if sure && out.Code == 0 {
		c.Context().Put(key, k, 8*len(out.Stdout)) // of maps, lists and texts
	}
	return k, nil
}

// add takes one line: want, flag, status, name, version, architecture.
func (k *known) add(cols []string, foreign func(string) bool) {
	if len(cols) < 6 {
		return
	}
	want, status, name, version := cols[0], cols[2], cols[3], cols[4]
	if foreign(cols[5]) {
		name += ":" + cols[5]
	}
	into := k.purgeDesired
	switch {
	case (strings.Contains(want, "install") || strings.Contains(want, "hold")) && strings.Contains(status, "installed"):
		into = k.installed
	case strings.Contains(want, "deinstall"):
		into = k.removed
	case !strings.Contains(want, "purge") || status != "installed":
		return
	}
	before, _ := into.Value(name).([]any)
	into.Set(name, append(before, version))
}

// foreignArch tells which packages carry their architecture in the name: those of another one on a 64-bit PC.
func foreignArch(c *loader.Call) func(string) bool {
	cpu, _ := c.Grain("cpuarch")
	own, _ := c.Grain("osarch")
	return func(arch string) bool { return cpu == "x86_64" && own == "amd64" && arch != "all" && arch != "amd64" }
}

// sorted are the versions of a package, each once.
func sorted(versions []any) []any {
	words := make([]string, len(versions))
	for i, v := range versions {
		words[i], _ = v.(string)
	}
	slices.Sort(words)
	return payload.AnyList(slices.Compact(words))
}

// stateOfFiles changes when dpkg changes what it knows: its table, or what is not written into that yet.
func stateOfFiles() (string, bool) {
	dir := os.Getenv("DPKG_ADMINDIR")
	if dir == "" {
		dir = "/var/lib/dpkg"
	}
	state := dir
	for _, name := range []string{"status", "updates"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return "", false
		}
		inode := uint64(0)
		if sys, ok := info.Sys().(*syscall.Stat_t); ok {
			inode = sys.Ino
		}
		state += fmt.Sprintf(" %d %d %d", inode, info.Size(), info.ModTime().UnixNano())
	}
	return state, true
}

type listed struct {
	AsList       any          `arg:"versions_as_list=False"`
	Removed      any          `arg:"removed=False"`
	PurgeDesired any          `arg:"purge_desired=False"`
	KW           *payload.Map `arg:"**kwargs"`
}

func listPkgs(c *loader.Call, a listed) (*payload.Map, error) {
	k, err := list(c, useContext(a.KW))
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	switch {
	case dicts.IsTrue(a.Removed):
		out.Update(k.removed)
	case dicts.IsTrue(a.PurgeDesired):
		out.Update(k.purgeDesired)
	default:
		out.Update(k.purgeDesired)
		out.Update(k.installed)
	}
	return asWanted(out, a.AsList), nil
}

// useContext is whether the caller takes what an earlier call has kept.
func useContext(kw *payload.Map) bool {
	v, given := kw.Get("use_context")
	return !given || python.Truth(v)
}

// asWanted writes the versions of each package in one text, unless lists are wanted. The lists of m stay as they are.
func asWanted(m *payload.Map, asList any) *payload.Map {
	for name, v := range m.All() {
		versions, _ := v.([]any)
		if dicts.IsTrue(asList) {
			m.Set(name, slices.Clone(versions))
			continue
		}
		words := make([]string, len(versions))
		for i := range versions {
			words[i], _ = versions[i].(string)
		}
		m.Set(name, strings.Join(words, ","))
	}
	return m
}

func version(c *loader.Call, a several) (any, error) {
	out, glob := payload.NewMap(0), false
	if len(a.Names) > 0 {
		k, err := list(c, useContext(a.KW))
		if err != nil {
			return nil, err
		}
		for _, v := range a.Names {
			name := python.Str(v)
			if !strings.Contains(name, "*") {
				out.Set(name, k.versions(name))
				continue
			}
			glob = true
			for _, m := range []*payload.Map{k.purgeDesired, k.installed} {
				for known := range m.All() {
					if fnmatch.Match(name, python.Str(known)) {
						out.Set(known, k.versions(python.Str(known)))
					}
				}
			}
		}
	}
	asWanted(out, a.KW.Value("versions_as_list"))
	if out.Len() == 1 && !glob {
		return out.Value(out.Keys()[0]), nil
	}
	return out, nil
}

// versions are those of a package that is there.
func (k *known) versions(name string) []any {
	for _, m := range []*payload.Map{k.installed, k.purgeDesired} {
		if v, ok := m.Value(name).([]any); ok {
			return v
		}
	}
	return []any{}
}
