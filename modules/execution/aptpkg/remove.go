package aptpkg

import (
	"slices"
	"strings"

	"brine/modules/execution/pkg_resource"
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

type removeArgs struct {
	Name  any          `arg:"name=None"`
	Packs any          `arg:"pkgs=None"`
	KW    *payload.Map `arg:"**kwargs"`
}

func remove(c *loader.Call, a removeArgs) (*payload.Map, error) { return a.uninstall(c, "remove") }

func purge(c *loader.Call, a removeArgs) (*payload.Map, error) { return a.uninstall(c, "purge") }

// matching are the packages of a map that targets name, in the order of the targets; of globs only the last counts, as
// in Salt.
func matching(there, targets *payload.Map) []string {
	var plain, byGlob []string
	for v := range targets.All() {
		name := python.Str(v)
		if !strings.Contains(name, "*") {
			plain = append(plain, name)
			continue
		}
		byGlob = nil
		for known := range there.All() {
			if fnmatch.Match(name, python.Str(known)) {
				byGlob = append(byGlob, python.Str(known))
			}
		}
	}
	var out []string
	for _, name := range append(plain, byGlob...) {
		if there.Has(name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func (a removeArgs) uninstall(c *loader.Call, action string) (*payload.Map, error) {
	targets, err := pkg_resource.Parse(c, pkg_resource.Wanted{Name: a.Name, Packs: a.Packs})
	if err != nil {
		return nil, asExecution(err)
	}
	before, err := list(c, true)
	if err != nil {
		return nil, err
	}
	words := matching(before.texts(false), targets.Packages)
	if action == "purge" {
		for _, name := range matching(before.texts(true), targets.Packages) {
			if !slices.Contains(words, name) {
				words = append(words, name)
			}
		}
	}
	if len(words) == 0 {
		return payload.NewMap(0), nil
	}
	out, err := apt(c, append([]string{"apt-get", "-q", "-y", action}, words...),
		payload.M("env", ofCommand(a.KW).Value("env")))
	if err != nil {
		return nil, err
	}
	now, err := list(c, false)
	if err != nil {
		return nil, err
	}
	changes := pkg_resource.Compare(before.texts(false), now.texts(false))
	if action == "purge" {
		changes = payload.M("removed", pkg_resource.Compare(before.texts(true), now.texts(true)), "installed", changes)
	}
	if out.Code != 0 && out.Stderr != "" {
		return nil, pkg_resource.Failure("Problem encountered removing package(s)",
			payload.M("errors", []any{out.Stderr}, "changes", changes))
	}
	return changes, nil
}

type autoArgs struct {
	ListOnly bool `arg:"list_only=False"`
	Purge    bool `arg:"purge=False"`
}

// autoremove removes packages that were installed for others and are needed no more.
func autoremove(c *loader.Call, a autoArgs) (any, error) {
	argv := []string{"apt-get", "--assume-yes"}
	if a.ListOnly {
		argv[1] = "--assume-no"
	}
	if a.Purge {
		argv = append(argv, "--purge")
	}
	argv = append(argv, "autoremove")
	before, err := list(c, true)
	if err != nil {
		return nil, err
	}
	out, err := apt(c, argv, payload.M("ignore_retcode", true))
	if err != nil {
		return nil, err
	}
	if a.ListOnly {
		return payload.AnyList(toBeRemoved(out.Lines())), nil
	}
	now, err := list(c, false)
	if err != nil {
		return nil, err
	}
	return pkg_resource.Compare(before.texts(false), now.texts(false)), nil
}

func toBeRemoved(lines []string) (names []string) {
	found := false
	for _, line := range lines {
		switch {
		case found && strings.HasPrefix(line, " "):
			names = append(names, strings.Fields(line)...)
		case found:
			found = false
		default:
			found = strings.Contains(line, "The following packages will be REMOVED:")
		}
	}
	slices.Sort(names)
	return names
}

type upgradeArgs struct {
	Refresh any          `arg:"refresh=True"`
	Dist    bool         `arg:"dist_upgrade=False"`
	KW      *payload.Map `arg:"**kwargs"`
}

// upgrade upgrades all packages.
func upgrade(c *loader.Call, a upgradeArgs) (*payload.Map, error) {
	if dicts.IsTrue(a.Refresh) {
		if _, err := refresh(c, a.KW.Value("cache_valid_time"), nil); err != nil {
			return nil, err
		}
	}
	before, err := list(c, true)
	if err != nil {
		return nil, err
	}
	argv := append([]string{"apt-get", "-q", "-y"}, keepConf(a.KW)...)
	for _, o := range [][3]string{{"force_yes", "", "--force-yes"}, {"skip_verify", "", "--allow-unauthenticated"},
		{"download_only", "downloadonly", "--download-only"}, {"allow_downgrades", "", "--allow-downgrades"}} {
		if python.Truth(a.KW.Value(o[0])) || python.Truth(a.KW.Value(o[1])) {
			argv = append(argv, o[2])
		}
	}
	action := "upgrade"
	if a.Dist {
		action = "dist-upgrade"
	}
	out, err := apt(c, append(argv, action), nil)
	if err != nil {
		return nil, err
	}
	now, err := list(c, false)
	if err != nil {
		return nil, err
	}
	changes := pkg_resource.Compare(before.texts(false), now.texts(false))
	if out.Code != 0 {
		result := payload.M("retcode", out.Code, "stdout", out.Stdout, "stderr", out.Stderr)
		return nil, pkg_resource.Failure("Problem encountered upgrading packages",
			payload.M("changes", changes, "result", result))
	}
	return changes, nil
}
