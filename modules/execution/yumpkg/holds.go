package yumpkg

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// locksOfDNF5 is where dnf5 keeps what is held.
const locksOfDNF5 = "/etc/dnf/versionlock.toml"

// plugin is the package without which nothing can be held.
func plugin(c *loader.Call) (string, error) {
	switch manager() {
	case "tdnf":
		return "", loader.InvocErr("Cannot proceed, no versionlock for tdnf")
	case "yum":
		return "yum-plugin-versionlock", nil
	}
	system, _ := c.Grain("os")
	release, _ := c.Grain("osmajorrelease")
	major, err := loader.ToInt(release)
	switch {
	case strings.EqualFold(loader.Text(system), "fedora") && err == nil && major < 26:
		return "python3-dnf-plugins-extras-versionlock", nil
	case strings.EqualFold(loader.Text(system), "fedora") || err == nil && major >= 8:
		return "python3-dnf-plugin-versionlock", nil
	}
	return "python2-dnf-plugin-versionlock", nil
}

func checkPlugin(c *loader.Call) error {
	name, err := plugin(c)
	if err != nil {
		return err
	}
	all, err := list(c, false, nil)
	if err == nil && !all.Has(name) {
		err = loader.InvocErr("Cannot proceed, %s is not installed.", name)
	}
	return err
}

type holdsArgs struct {
	Pattern string `arg:"pattern=[\\w+]+(?:[.-][^-]+)*"`
	Full    bool   `arg:"full=True"`
}

func listHolds(c *loader.Call, a holdsArgs) ([]any, error) {
	out, err := holds(c, a.Full)
	return payload.AnyList(out), err
}

// holdNames are the packages that are held.
func holdNames(c *loader.Call) ([]string, error) { return holds(c, false) }

var (
	lockDNF = pattern.New(`([\w+]+(?:[.-][^-]+)*-\S+)`)
	lockYum = pattern.New(`(\d+:[\w+]+(?:[.-][^-]+)*-\S+)`)
)

func holds(c *loader.Call, full bool) (out []string, err error) {
	if err := checkPlugin(c); err != nil {
		return nil, err
	}
	if manager() == "dnf5" {
		return holdsOfDNF5(full)
	}
	text, err := cmdmod.Run(c, []string{manager(), "versionlock", "list"}, nil)
	if err != nil {
		return nil, err
	}
	line := lockYum
	if isDNF() {
		line = lockDNF
	}
	for row := range strings.Lines(text) {
		found := line.FindString(strings.TrimRight(row, "\n"))
		if found == "" {
			continue
		}
		if !full {
			found = nameOfLock(found)
		}
		out = append(out, found)
	}
	return out, nil
}

// nameOfLock is the name in "name-epoch:version-release.arch", or with the epoch before it.
func nameOfLock(lock string) string {
	if epoch, rest, has := strings.Cut(lock, ":"); has && strings.Trim(epoch, "0123456789") == "" {
		lock = rest
	}
	for _, mark := range []string{".", "-", "-"} {
		if i := strings.LastIndex(lock, mark); i >= 0 {
			lock = lock[:i]
		}
	}
	return lock
}

var (
	tomlName = pattern.New(`^name\s*=\s*["']([^"']*)["']`)
	tomlEVR  = pattern.New(`^value\s*=\s*["']([^"']*)["']`)
)

// holdsOfDNF5 reads what dnf5 writes: tables [[packages]] with a name, and [[packages.conditions]] with a value.
func holdsOfDNF5(full bool) (out []string, err error) {
	f, err := os.Open(locksOfDNF5)
	if err != nil {
		return nil, nil //nolint:nilerr // nothing is held
	}
	defer f.Close()
	const most = 4 << 20 // bytes
	text, err := io.ReadAll(io.LimitReader(f, most))
	name := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "[[packages]]":
			name = ""
		case tomlName.MatchString(line):
			name = tomlName.FindStringSubmatch(line)[1]
			if !full && !slices.Contains(out, name) {
				out = append(out, name)
			}
		case full && name != "" && tomlEVR.MatchString(line):
			version := tomlEVR.FindStringSubmatch(line)[1]
			if !strings.Contains(version, ":") {
				version = "0:" + version
			}
			out = append(out, name+"-"+version+".*")
			name = ""
		}
	}
	return out, err
}

type holdArgs struct {
	Name    any          `arg:"name=None"`
	Packs   any          `arg:"pkgs=None"`
	Sources any          `arg:"sources=None"`
	KW      *payload.Map `arg:"**kwargs"`
}

// targets are the names of the packages of a call.
func (a holdArgs) targets() (out []string, err error) {
	packs, sources := python.Truth(a.Packs), python.Truth(a.Sources)
	if !python.Truth(a.Name) && !packs && !sources {
		return nil, loader.InvocErr("One of name, pkgs, or sources must be specified.")
	}
	if packs && sources {
		return nil, loader.InvocErr("Only one of pkgs or sources can be specified.")
	}
	from := a.Packs
	if sources {
		from = a.Sources
	}
	if !packs && !sources {
		from = []any{a.Name}
	}
	if m, ok := from.(*payload.Map); ok {
		from = m.Keys()
	}
	list, _ := from.([]any)
	for _, item := range list {
		if m, ok := item.(*payload.Map); ok && m.Len() > 0 {
			item = m.Keys()[0]
		}
		out = append(out, python.Str(item))
	}
	return out, namesOnly(out...)
}

// tested tells whether a call is to change nothing.
func tested(c *loader.Call, kw *payload.Map) bool {
	if v, given := kw.Get("test"); given {
		return python.Truth(v)
	}
	return python.Truth(c.Opts().Value("test"))
}

func hold(c *loader.Call, a holdArgs) (*payload.Map, error) {
	return a.each(c, false, func(target string, locks []string, row *payload.Map) error {
		if slices.Contains(locks, target) {
			row.Set("result", true).Set("comment", fmt.Sprintf("Package %s is already set to be held.", target))
			return nil
		}
		if tested(c, a.KW) {
			row.Set("result", nil).Set("comment", fmt.Sprintf("Package %s is set to be held.", target))
			return nil
		}
		return lock(c, row, []string{"versionlock", "add", target}, payload.M("new", "hold", "old", ""),
			fmt.Sprintf("Package %s is now being held.", target),
			fmt.Sprintf("Package %s was unable to be held.", target))
	})
}

func unhold(c *loader.Call, a holdArgs) (*payload.Map, error) {
	byFull := manager() == "yum"
	return a.each(c, byFull, func(target string, locks []string, row *payload.Map) error {
		var found []string
		for _, l := range locks {
			if !byFull && l == target || byFull && fnmatch.Match("*"+target+"*", l) && nameOfLock(l) == target {
				found = append(found, l)
			}
		}
		if len(found) == 0 {
			row.Set("result", true).Set("comment", fmt.Sprintf("Package %s is not being held.", target))
			return nil
		}
		if tested(c, a.KW) {
			row.Set("result", nil).Set("comment", fmt.Sprintf("Package %s is set to be unheld.", target))
			return nil
		}
		return lock(c, row, append([]string{"versionlock", "delete"}, found...), payload.M("new", "", "old", "hold"),
			fmt.Sprintf("Package %s is no longer held.", target),
			fmt.Sprintf("Package %s was unable to be unheld.", target))
	})
}

// each does something with each package of a call, and the locks that there are.
func (a holdArgs) each(c *loader.Call, full bool, do func(target string, locks []string, row *payload.Map) error,
) (*payload.Map, error) {
	if err := checkPlugin(c); err != nil {
		return nil, err
	}
	targets, err := a.targets()
	if err != nil {
		return nil, err
	}
	locks, err := holds(c, full)
	if err != nil {
		return nil, err
	}
	ret := payload.NewMap(len(targets))
	for _, target := range targets {
		row := payload.M("name", target, "changes", payload.NewMap(0), "result", false, "comment", "")
		ret.Set(target, row)
		if err := do(target, locks, row); err != nil {
			return nil, err
		}
	}
	return ret, nil
}

// lock changes a lock and tells whether that was done.
func lock(c *loader.Call, row *payload.Map, argv []string, changes *payload.Map, done, not string) error {
	out, err := call(c, argv, nil)
	if err != nil {
		return err
	}
	if row.Set("comment", not); out.Code == 0 {
		row.Set("result", true).Set("comment", done).Set("changes", changes)
	}
	return nil
}
