package pkg

import (
	"fmt"
	"slices"
	"strings"

	"brine/modules/execution/pkg_resource"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type installArgs struct {
	Name            any          `arg:"name"`
	Version         any          `arg:"version=None"`
	Refresh         any          `arg:"refresh=None"`
	FromRepo        any          `arg:"fromrepo=None"`
	SkipVerify      any          `arg:"skip_verify=False"`
	SkipSuggestions bool         `arg:"skip_suggestions=False"`
	Packs           any          `arg:"pkgs=None"`
	Sources         any          `arg:"sources=None"`
	AllowUpdates    bool         `arg:"allow_updates=False"`
	PkgVerify       any          `arg:"pkg_verify=False"`
	Normalize       bool         `arg:"normalize=True"`
	IgnoreEpoch     any          `arg:"ignore_epoch=None"`
	Reinstall       bool         `arg:"reinstall=False"`
	UpdateHolds     any          `arg:"update_holds=False"`
	KW              *payload.Map `arg:"**kwargs"`
}

// installing begins the comment on a failure.
const installing = "An error was encountered while installing package(s)"

func installed(c *states.Call, a installArgs) (states.Plan, error) {
	if list, ok := a.Packs.([]any); ok && len(list) == 0 {
		return states.Correct("No packages to install provided"), nil
	}
	if python.Truth(a.Name) && !python.Truth(a.Packs) && !python.Truth(a.Sources) {
		a.Packs = []any{a.Name}
		if python.Truth(a.Version) {
			a.Packs, a.Version = []any{payload.M(a.Name, a.Version)}, nil
		}
	}
	a.KW = a.KW.Clone().Set("saltenv", c.Saltenv)
	s := &search{Call: c, installArgs: &a, refresh: pkg_resource.WantsRefresh(c.Call, a.Refresh)}
	if python.Truth(a.Packs) {
		if err := s.capabilities(); err != nil {
			return states.Plan{}, err
		}
	}
	if s.verifies() && !c.Has("pkg.verify") {
		return states.Wrong("pkg.verify not implemented"), nil
	}
	if a.Version != nil {
		a.Version = python.Str(a.Version)
	}
	a.KW.Set("allow_updates", a.AllowUpdates)
	plan, err := s.find()
	if err != nil {
		return states.Plan{}, err
	}
	if plan != nil {
		return s.onlyHold(*plan)
	}
	if len(s.unpurge) > 0 && !c.Has("lowpkg.unpurge") {
		return s.warned(states.Wrong("lowpkg.unpurge not implemented")), nil
	}
	s.narrow()
	comment, changes, err := s.show()
	if isExecution(err) {
		return s.warned(states.Wrong(installing + ": " + loader.Message(err))), nil
	}
	if err != nil {
		return states.Plan{}, err
	}
	return s.warned(states.Would(comment, changes, s.apply)), nil
}

// capabilities lets a provider that knows capabilities put packages in their place.
func (s *search) capabilities() error {
	const by = "pkg.resolve_capabilities"
	if !s.Has(by) {
		return nil
	}
	v, err := s.Salt(by, s.KW.Clone().Set("refresh", s.refresh), s.Packs)
	s.Packs, s.refresh = v, false
	return err
}

// warned adds the warnings to a plan.
func (s *search) warned(p states.Plan) states.Plan {
	if len(s.warnings) > 0 {
		return p.With("warnings", s.warnings)
	}
	return p
}

// narrow leaves in the arguments only what is to be installed.
func (s *search) narrow() {
	if python.Truth(s.Packs) {
		var list []any
		for _, m := range []*payload.Map{s.targets, s.again} {
			for name, want := range m.All() {
				list = append(list, payload.M(name, want))
			}
		}
		s.Packs = list
		return
	}
	all, _ := s.Sources.([]any)
	var list []any
	for _, m := range []*payload.Map{s.targets, s.again} {
		for _, item := range all {
			if source, ok := item.(*payload.Map); ok && source.Len() > 0 && m.Has(source.Keys()[0]) {
				list = append(list, item)
			}
		}
	}
	s.Sources = list
}

// show tells what would be done. It costs a look into the repositories, for which a real run has no need.
func (s *search) show() (comment string, changes *payload.Map, err error) {
	if !s.Test {
		return "", nil, nil
	}
	var lines []string
	changes = payload.NewMap(0)
	fromFile := python.Truth(s.Sources)
	if s.targets.Len() > 0 {
		if fromFile {
			for name := range s.targets.All() {
				changes.Set(name, payload.M("new", "installed", "old", ""))
			}
		} else if changes, err = installable(s.Call, s.targets, nil); err != nil {
			return "", nil, err
		}
		lines = append(lines, "The following packages would be installed/updated: "+
			strings.Join(payload.Texts(s.targets.Keys()), ", "))
	}
	if len(s.unpurge) > 0 {
		lines = append(lines, "The following packages would have their selection status changed from 'purge' to "+
			"'install': "+strings.Join(s.unpurge, ", "))
		for _, name := range s.unpurge {
			changes.Set(name, payload.M("new", "installed", "old", ""))
		}
	}
	return strings.Join(append(lines, s.showAgain(changes)...), "\n"), changes, nil
}

// showAgain tells what would be reinstalled.
func (s *search) showAgain(changes *payload.Map) (lines []string) {
	if s.again.Len() == 0 {
		return nil
	}
	texts := s.told(payload.Texts(s.again.Keys()), s.again)
	if s.Reinstall {
		for _, text := range texts {
			changes.Set(text, payload.M("new", "installed", "old", ""))
		}
		return []string{"The following packages would be reinstalled: " + strings.Join(texts, ", ")}
	}
	for i, name := range payload.Texts(s.again.Keys()) {
		lines = append(lines, fmt.Sprintf("Package '%s' would be reinstalled because the following files have been "+
			"altered:", texts[i]), pkg_resource.Nested(s.altered.Value(name)))
		changes.Set(name, payload.NewMap(0))
	}
	return lines
}

// told are packages as they are told of: of files by their names, else with their versions.
func (s *search) told(names []string, desired *payload.Map) []string {
	out := slices.Clone(names)
	if !python.Truth(s.Sources) {
		for i, name := range names {
			out[i] = desiredText(name, desired)
		}
	}
	return out
}

// apply installs.
func (s *search) apply() (states.Done, error) {
	r := &result{search: s, changes: payload.NewMap(0), installed: payload.NewMap(0), ok: true}
	if s.targets.Len() > 0 || s.again.Len() > 0 {
		done, err := s.Salt("pkg.install", s.KW.Clone().Set("name", nil).Set("refresh", s.refresh).
			Set("version", s.Version).Set("fromrepo", s.FromRepo).Set("skip_verify", s.SkipVerify).
			Set("pkgs", s.Packs).Set("sources", s.Sources).Set("reinstall", s.again.Len() > 0).
			Set("normalize", s.Normalize).Set("update_holds", s.UpdateHolds).Set("ignore_epoch", s.IgnoreEpoch).
			Set("split_arch", false))
		if err != nil {
			done, err := failed(err, installing)
			return s.alsoWarned(done), err
		}
		switch v := done.(type) {
		case *payload.Map:
			r.installed = v
			r.changes.Update(v)
		case string:
			r.lines = append(r.lines, v)
		}
	}
	done, err := r.judged()
	return s.alsoWarned(done), err
}

func (s *search) alsoWarned(d states.Done) states.Done {
	if len(s.warnings) > 0 {
		return d.With("warnings", s.warnings)
	}
	return d
}

// hold is what the provider says of packages that are to be held, or not.
func (s *search) hold(packs any, test bool) (held *payload.Map, wanted bool, err error) {
	v, wanted := s.KW.Get("hold")
	if !wanted || !s.Has("pkg.hold") {
		return nil, false, nil
	}
	by, kw := "pkg.unhold", payload.M("name", s.Name, "pkgs", packs)
	if python.Truth(v) {
		by = "pkg.hold"
	}
	if packs == nil {
		kw.Set("sources", s.Sources)
	}
	if test {
		kw.Set("test", true)
	}
	held, err = salt(s.Call, by, kw)
	return held, true, err
}

// onlyHold is a plan that installs nothing, and holds what it is told to hold.
func (s *search) onlyHold(p states.Plan) (states.Plan, error) {
	p = s.warned(p)
	shown, wanted, err := s.hold(s.Packs, true)
	if !wanted {
		return p, nil
	}
	if refused(err) {
		return states.Wrong(loader.Message(err)), nil
	}
	if err != nil {
		return p, err
	}
	before := states.Done{Result: p.Result, Comment: p.Comment, Also: p.Also}
	would := withHolds(before, shown)
	p.Result, p.Comment, p.Changes = would.Result, would.Comment, would.Changes
	if would.Result == nil { // something would be held
		p.Apply = func() (states.Done, error) {
			held, _, err := s.hold(s.Packs, false)
			if refused(err) {
				return states.Failed(loader.Message(err), nil)
			}
			return withHolds(before, held), err
		}
	}
	return p, nil
}

// withHolds adds what was held to a result.
func withHolds(d states.Done, held *payload.Map) states.Done {
	d.Changes = payload.NewMap(0)
	for _, row := range sorted(held) {
		d.Comment = loader.Text(d.Comment) + ".\n" + row.Str("comment")
		d.Result = row.Value("result")
		if changes, _ := row.Value("changes").(*payload.Map); changes.Len() > 0 {
			d.Changes.Set(row.Value("name"), changes)
		}
	}
	return d
}

// refused tells whether an error is one that the caller of hold tells of.
func refused(err error) bool {
	_, isCall := err.(*loader.InvocationError)
	return isCall || isExecution(err)
}

// sorted are rows of hold: those with changes, those without, those that failed.
func sorted(held *payload.Map) (out []*payload.Map) {
	kind := func(row *payload.Map) int {
		changes, _ := row.Value("changes").(*payload.Map)
		switch {
		case changes.Len() > 0:
			return 0
		case python.Truth(row.Value("result")):
			return 1
		}
		return 2
	}
	for want := range 3 {
		for _, v := range held.All() {
			if row, ok := v.(*payload.Map); ok && kind(row) == want {
				out = append(out, row)
			}
		}
	}
	return out
}
