package pkg

import (
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type downloadArgs struct {
	Name        any          `arg:"name"`
	Version     any          `arg:"version=None"`
	Packs       any          `arg:"pkgs=None"`
	FromRepo    any          `arg:"fromrepo=None"`
	IgnoreEpoch any          `arg:"ignore_epoch=None"`
	KW          *payload.Map `arg:"**kwargs"`
}

func downloaded(c *states.Call, a downloadArgs) (states.Plan, error) {
	if !c.Has("pkg.list_downloaded") {
		return states.Wrong("The pkg.downloaded state is not available on this platform"), nil
	}
	if list, ok := a.Packs.([]any); ok && len(list) == 0 {
		return states.Correct("No packages to download provided"), nil
	}
	a.KW = a.KW.Clone()
	a.KW.Delete("downloadonly")
	if python.Truth(a.Name) && !python.Truth(a.Packs) {
		a.Packs = []any{a.Name}
		if python.Truth(a.Version) {
			a.Packs, a.Version = []any{payload.M(a.Name, a.Version)}, nil
		}
	}
	s := &search{Call: c, installArgs: &installArgs{Name: a.Name, Packs: a.Packs, FromRepo: a.FromRepo,
		IgnoreEpoch: a.IgnoreEpoch, Normalize: true, KW: a.KW}}
	if err := s.capabilities(); err != nil {
		return states.Plan{}, err
	}
	plan, err := s.findDownloads()
	if plan != nil || err != nil {
		return orNone(plan), err
	}
	names := strings.Join(payload.Texts(s.targets.Keys()), ", ")
	return states.Would("The following packages would be downloaded: "+names, nil, func() (states.Done, error) {
		return s.download(a, names)
	}), nil
}

// download fetches the packages, and looks whether they are there.
func (s *search) download(a downloadArgs, names string) (states.Done, error) {
	changes, err := salt(s.Call, "pkg.install", s.KW.Clone().Set("name", a.Name).Set("pkgs", s.Packs).
		Set("version", a.Version).Set("downloadonly", true).Set("fromrepo", a.FromRepo).
		Set("ignore_epoch", a.IgnoreEpoch))
	if err != nil {
		return failed(err, "An error was encountered while downloading package(s)")
	}
	if s.current, err = salt(s.Call, "pkg.list_downloaded", s.KW); err != nil {
		return states.Done{}, err
	}
	_, bad, err := verified(s, s.targets)
	switch {
	case err != nil:
		return states.Done{}, err
	case len(bad) > 0:
		return states.Failed("The following packages failed to download: "+desiredTexts(bad, s.targets), changes)
	case changes.Len() > 0:
		return states.Changed("", changes)
	}
	return states.Changed("Packages downloaded: "+names, nil)
}

type patchArgs struct {
	Name         any          `arg:"name"`
	Advisories   any          `arg:"advisory_ids=None"`
	DownloadOnly any          `arg:"downloadonly=None"`
	KW           *payload.Map `arg:"**kwargs"`
}

type patchDownload struct {
	Name       any          `arg:"name"`
	Advisories any          `arg:"advisory_ids=None"`
	KW         *payload.Map `arg:"**kwargs"`
}

func patchDownloaded(c *states.Call, a patchDownload) (states.Plan, error) {
	if !c.Has("pkg.list_patches") {
		return states.Wrong("The pkg.patch_downloaded state is not available on this platform"), nil
	}
	kw := a.KW.Clone()
	kw.Delete("downloadonly")
	return patchInstalled(c, patchArgs{Name: a.Name, Advisories: a.Advisories, DownloadOnly: true, KW: kw})
}

func patchInstalled(c *states.Call, a patchArgs) (states.Plan, error) {
	if !c.Has("pkg.list_patches") {
		return states.Wrong("The pkg.patch_installed state is not available on this platform"), nil
	}
	wanted, isList := a.Advisories.([]any)
	if isList && len(wanted) == 0 {
		return states.Correct("No advisory ids provided"), nil
	}
	there, err := salt(c, "pkg.list_installed_patches", a.KW)
	if err != nil {
		return states.Plan{}, err
	}
	if !python.Truth(a.Advisories) {
		if wanted = []any{a.Name}; python.Truth(there.Value(a.Name)) {
			return states.Correct("Advisory patch " + python.Str(a.Name) + " is already installed"), nil
		}
	}
	var targets []string
	for _, name := range wanted {
		if !python.Truth(there.Value(name)) {
			targets = append(targets, python.Str(name))
		}
	}
	if len(targets) == 0 {
		return states.Correct("All specified advisory patches are already installed"), nil
	}
	return states.Would("The following advisory patches would be downloaded: "+strings.Join(targets, ", "), nil,
		func() (states.Done, error) { return a.apply(c) }), nil
}

func (a patchArgs) apply(c *states.Call) (states.Done, error) {
	changes, err := salt(c, "pkg.install", a.KW.Clone().Set("name", a.Name).Set("advisory_ids", a.Advisories).
		Set("downloadonly", a.DownloadOnly))
	if err != nil {
		return failed(err, "An error was encountered while downloading package(s)")
	}
	if changes.Len() > 0 {
		return states.Changed("", changes)
	}
	status := "installed"
	if python.Truth(a.DownloadOnly) {
		status = "downloaded"
	}
	return states.Changed("Advisory patch is not needed or related packages are already "+status, nil)
}

type uptodateArgs struct {
	Name    any          `arg:"name"`
	Refresh any          `arg:"refresh=False"`
	Packs   any          `arg:"pkgs=None"`
	KW      *payload.Map `arg:"**kwargs"`
}

func uptodate(c *states.Call, a uptodateArgs) (states.Plan, error) {
	if !c.Has("pkg.list_upgrades") {
		return states.Wrong("State pkg.uptodate is not available"), nil
	}
	refresh, ok := a.Refresh.(bool)
	if !ok {
		return states.Wrong("refresh must be either True or False"), nil
	}
	upgrades, err := salt(c, "pkg.list_upgrades", a.KW.Clone().Set("refresh", refresh))
	if err != nil {
		return states.Wrong(loader.Message(err)), nil
	}
	only, chosen := a.Packs.([]any)
	expected := payload.NewMap(upgrades.Len())
	for name, version := range upgrades.All() {
		if chosen && !contains(only, name) {
			continue
		}
		now, err := c.Salt("pkg.version", a.KW, name)
		if err != nil {
			return states.Wrong(loader.Message(err)), nil
		}
		expected.Set(name, payload.M("new", version, "old", now))
	}
	if expected.Len() == 0 {
		return states.Correct("System is already up-to-date"), nil
	}
	return states.Would("System update will be performed", expected, func() (states.Done, error) {
		changes, err := salt(c, "pkg.upgrade", a.KW.Clone().Set("refresh", refresh).Set("pkgs", a.Packs))
		if err != nil {
			return failed(err, "An error was encountered while updating packages")
		}
		var missing []string
		for name := range expected.All() {
			if chosen && !changes.Has(name) {
				missing = append(missing, python.Str(name))
			}
		}
		if len(missing) > 0 {
			return states.Failed("The following package(s) failed to update: "+strings.Join(missing, ", "), changes)
		}
		return states.Changed("Upgrade ran successfully", changes)
	}), nil
}

func contains(list []any, v any) bool {
	for _, item := range list {
		if item == v {
			return true
		}
	}
	return false
}

type groupArgs struct {
	Name    any          `arg:"name"`
	Skip    any          `arg:"skip=None"`
	Include any          `arg:"include=None"`
	KW      *payload.Map `arg:"**kwargs"`
}

func groupInstalled(c *states.Call, a groupArgs) (states.Plan, error) {
	if !c.Has("pkg.group_diff") {
		return states.Wrong("pkg.group_install not available for this platform"), nil
	}
	skip, isList := a.Skip.([]any)
	if a.Skip != nil && !isList {
		return states.Wrong("skip must be formatted as a list"), nil
	}
	include, isList := a.Include.([]any)
	if a.Include != nil && !isList {
		return states.Wrong("include must be formatted as a list"), nil
	}
	skipped := payload.NewMap(len(skip))
	for _, v := range skip {
		skipped.Set(python.Str(v), true)
	}
	diff, err := salt(c, "pkg.group_diff", loader.CleanKWArgs(a.KW), a.Name)
	if err != nil {
		if strings.Contains(loader.Message(err), "unexpected keyword argument") {
			return states.Wrong("Repo options are not supported on this platform"), nil
		}
		return states.Wrong("An error was encountered while installing/updating group '" + python.Str(a.Name) + "': " +
			loader.Message(err) + "."), nil
	}
	return a.plan(c, diff, skipped, payload.Texts(include))
}

// plan installs what a group lacks.
func (a groupArgs) plan(c *states.Call, diff, skip *payload.Map, include []string) (states.Plan, error) {
	of := func(kind, what string) []string {
		m, _ := diff.Value(kind).(*payload.Map)
		return payload.Texts(m.List(what))
	}
	name := python.Str(a.Name)
	lacking := of("mandatory", "not installed")
	var must []string
	for _, p := range append(of("mandatory", "installed"), lacking...) {
		if skip.Has(p) {
			must = append(must, p)
		}
	}
	if len(must) > 0 {
		return states.Wrong("The following mandatory packages cannot be skipped: " + strings.Join(must, ", ")), nil
	}
	targets := append([]string{}, lacking...)
	for _, p := range of("default", "not installed") {
		if !skip.Has(p) {
			targets = append(targets, p)
		}
	}
	if targets = append(targets, include...); len(targets) == 0 {
		return states.Correct("Group '" + name + "' is already installed"), nil
	}
	comment, was := "Group '"+name+"' will be installed", "installed"
	if len(of("mandatory", "installed"))+len(of("default", "installed"))+len(of("optional", "installed")) > 0 {
		comment, was = "Group '"+name+"' is partially installed and will be updated", "updated"
	}
	return states.Would(comment, nil, func() (states.Done, error) {
		changes, err := salt(c, "pkg.install", a.KW.Clone().Set("pkgs", payload.AnyList(targets)))
		if err != nil {
			return failed(err, "An error was encountered while installing/updating group '"+name+"'")
		}
		there, err := salt(c, "pkg.list_pkgs", a.KW)
		if err != nil {
			return states.Done{}, err
		}
		var bad []string
		for _, p := range append(lacking, include...) {
			if !there.Has(p) {
				bad = append(bad, p)
			}
		}
		if len(bad) > 0 {
			return states.Failed("Failed to install the following packages: "+strings.Join(bad, ", "), changes)
		}
		return states.Changed("Group '"+name+"' was "+was, changes)
	}), nil
}
