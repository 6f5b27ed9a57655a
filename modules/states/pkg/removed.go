package pkg

import (
	"slices"
	"strings"

	"brine/modules/execution/pkg_resource"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type removeArgs struct {
	Name        any          `arg:"name"`
	Version     any          `arg:"version=None"`
	Packs       any          `arg:"pkgs=None"`
	Normalize   bool         `arg:"normalize=True"`
	IgnoreEpoch any          `arg:"ignore_epoch=None"`
	KW          *payload.Map `arg:"**kwargs"`
}

func removed(c *states.Call, a removeArgs) (states.Plan, error) {
	return uninstall(c, a, "remove", "An error was encountered while removing package(s)")
}

func purged(c *states.Call, a removeArgs) (states.Plan, error) {
	return uninstall(c, a, "purge", "An error was encountered while purging package(s)")
}

// going are packages on their way out.
type going struct {
	*states.Call
	removeArgs
	action, doing string
	params        *payload.Map // name → version
	targets       []string
}

func uninstall(c *states.Call, a removeArgs, action, doing string) (states.Plan, error) {
	g := &going{Call: c, removeArgs: a, action: action, doing: doing}
	g.KW = a.KW.Clone().Set("saltenv", c.Saltenv)
	plan, err := g.find()
	if isExecution(err) {
		d, err := failed(err, doing)
		return states.Plan{Result: d.Result, Comment: d.Comment, Changes: d.Changes}, err
	}
	if plan != nil || err != nil {
		return orNone(plan), err
	}
	if len(g.targets) == 0 {
		text := "None of the targeted packages are installed"
		if action == "purge" {
			text += " or partially installed"
		}
		return states.Correct(text), nil
	}
	changes := payload.NewMap(len(g.targets))
	for _, name := range g.targets {
		changes.Set(name, payload.M("new", action+"d", "old", ""))
	}
	return states.Would("The following packages will be "+action+"d: "+strings.Join(g.targets, ", ")+".", changes,
		func() (states.Done, error) {
			done, err := g.apply()
			if isExecution(err) {
				return failed(err, doing)
			}
			return done, err
		}), nil
}

// find tells which packages are to go. A plan says why none is.
func (g *going) find() (*states.Plan, error) {
	t, err := pkg_resource.Parse(g.Call.Call, pkg_resource.Wanted{Name: g.Name, Packs: g.Packs, Plain: !g.Normalize,
		KW: g.KW.Clone().Set("version", g.Version)})
	if err != nil {
		return nil, err
	}
	g.params = t.Packages
	plan, err := g.installed()
	if err != nil || g.action == "remove" && plan != nil {
		return plan, err
	}
	if g.action == "purge" {
		left, err := salt(g.Call, "pkg.list_pkgs", g.KW.Clone().Set("versions_as_list", true).Set("removed", true))
		if err != nil {
			return nil, err
		}
		for name := range g.params.All() {
			if left.Has(name) {
				g.targets = append(g.targets, python.Str(name))
			}
		}
	}
	slices.Sort(g.targets)
	return nil, nil
}

// installed looks for the packages that are installed, of a version if one is given.
func (g *going) installed() (*states.Plan, error) {
	current, err := salt(g.Call, "pkg.list_pkgs", g.KW.Clone().Set("versions_as_list", true))
	if err != nil {
		return nil, err
	}
	wanted := g.params
	if python.Truth(g.Packs) {
		if wanted, err = pkg_resource.Repack(g.Call.Call, g.Packs, g.Normalize); err != nil {
			return nil, err
		}
	} else if strings.Contains(python.Str(g.Name), ",") { // several names in one text are so for the provider alone
		wanted = payload.M(g.Name, g.Version)
	}
	exact := false
	for name, version := range wanted.All() {
		versions := versionsAt(current, name)
		if len(versions) == 0 {
			continue
		}
		clean, err := pkg_resource.VersionClean(g.Call.Call, version)
		if err != nil {
			return nil, err
		}
		fits := clean == nil
		if !fits {
			exact = true
			if fits, err = fulfils(g.Call, versions, python.Str(version), g.IgnoreEpoch, false); err != nil {
				return nil, err
			}
		}
		if fits {
			g.targets = append(g.targets, python.Str(name))
		}
	}
	if len(g.targets) > 0 {
		return nil, nil
	}
	text := "All specified packages are already absent"
	if exact {
		text = "All specified packages (matching specified versions) are already absent"
	}
	plan := states.Correct(text)
	return &plan, nil
}

func (g *going) apply() (states.Done, error) {
	changes, err := salt(g.Call, "pkg."+g.action, g.KW.Clone().Set("pkgs", g.Packs).Set("version", g.Version).
		Set("split_arch", false), g.Name)
	if err != nil {
		return states.Done{}, err
	}
	bad, err := g.remaining()
	if err != nil {
		return states.Done{}, err
	}
	if len(bad) > 0 {
		return states.Failed("The following packages failed to "+g.action+": "+strings.Join(bad, ", ")+".", changes)
	}
	var missing []string
	for name := range g.params.All() {
		if !slices.Contains(g.targets, python.Str(name)) {
			missing = append(missing, python.Str(name))
		}
	}
	if len(missing) == 0 {
		return states.Changed("All targeted packages were "+g.action+"d.", changes)
	}
	slices.Sort(missing)
	return states.Changed("The following packages were not installed: "+strings.Join(missing, ", ")+
		" The following packages were "+g.action+"d: "+strings.Join(g.targets, ", ")+".", changes)
}

// remaining are the packages that are still there.
func (g *going) remaining() (bad []string, err error) {
	now, err := salt(g.Call, "pkg.list_pkgs", g.KW.Clone().Set("versions_as_list", true))
	if err != nil {
		return nil, err
	}
	family, _ := g.Grain("os_family")
	byVersion := slices.Contains([]any{"Suse", "RedHat"}, family)
	for name, version := range g.params.All() {
		if !now.Has(name) {
			continue
		}
		text := python.Str(name)
		if byVersion && python.Truth(version) {
			if !slices.Contains(versionsAt(now, name), python.Str(version)) {
				continue
			}
			text += "-" + python.Str(version)
		}
		bad = append(bad, text)
	}
	if g.action == "purge" {
		left, err := salt(g.Call, "pkg.list_pkgs", g.KW.Clone().Set("versions_as_list", true).Set("removed", true))
		if err != nil {
			return nil, err
		}
		for name := range g.params.All() {
			if left.Has(name) {
				bad = append(bad, python.Str(name))
			}
		}
	}
	slices.Sort(bad)
	return bad, nil
}
