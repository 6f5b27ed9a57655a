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

// result is what an installation came to.
type result struct {
	*search
	changes, installed *payload.Map // of the state, and of pkg.install alone
	lines              []string
	ok                 bool
}

// judged looks whether everything is as it is desired.
func (r *result) judged() (states.Done, error) {
	held, _, err := r.hold(r.desired, false)
	if refused(err) {
		return states.Failed(strings.Join(append(r.lines, loader.Message(err)), "\n"), r.changes)
	}
	if err != nil {
		return states.Done{}, err
	}
	if len(r.unpurge) > 0 {
		v, err := r.Salt("lowpkg.unpurge", nil, payload.AnyList(r.unpurge)...)
		if err != nil {
			return states.Done{}, err
		}
		r.changes.Set("purge_desired", v)
	}
	modified, same, missing, err := r.sort()
	if err != nil {
		return states.Done{}, err
	}
	r.tell(modified, same, missing, held)
	if err := r.tellAgain(); err != nil {
		return states.Done{}, err
	}
	return states.Done{Result: r.ok, Comment: strings.Join(r.lines, "\n"), Changes: r.changes}, nil
}

// sort tells which packages were installed, were so before, and are not.
func (r *result) sort() (modified, same, missing []string, err error) {
	if python.Truth(r.Sources) {
		for name := range r.changes.All() {
			if r.targets.Has(name) {
				modified = append(modified, python.Str(name))
			}
		}
		for name := range r.desired.All() {
			if !r.targets.Has(name) && !r.again.Has(name) {
				same = append(same, python.Str(name))
			}
		}
		for name := range r.targets.All() {
			if !slices.Contains(modified, python.Str(name)) {
				missing = append(missing, python.Str(name))
			}
		}
		return modified, same, missing, nil
	}
	now, err := salt(r.Call, "pkg.list_pkgs", r.KW.Clone().Set("versions_as_list", true))
	if err != nil {
		return nil, nil, nil, err
	}
	r.current = now
	if r.provided != nil {
		if r.provided, err = salt(r.Call, "pkg.list_provides", r.KW); err != nil {
			return nil, nil, nil, err
		}
	}
	good, bad, err := verified(r.search, r.desired)
	for _, name := range good {
		switch {
		case r.targets.Has(name):
			modified = append(modified, name)
		case !r.again.Has(name):
			same = append(same, name)
		}
	}
	missing = slices.DeleteFunc(bad, func(name string) bool { return !r.targets.Has(name) })
	return modified, same, missing, err
}

// verified tells which packages are there as they are desired.
func verified(s *search, desired *payload.Map) (good, bad []string, err error) {
	for v, want := range desired.All() {
		name := python.Str(v)
		short, _, _ := strings.Cut(name, "=")
		versions, err := s.installedAs(short)
		if err != nil {
			return nil, nil, err
		}
		fine, err := isDesired(s, versions, want)
		if err != nil {
			return nil, nil, err
		}
		if fine {
			good = append(good, name)
		} else {
			bad = append(bad, name)
		}
	}
	return good, bad, nil
}

func isDesired(s *search, versions []string, want any) (bool, error) {
	if len(versions) == 0 || want == any("latest") {
		return len(versions) > 0, nil
	}
	clean, err := pkg_resource.VersionClean(s.Call.Call, want)
	if err != nil || !python.Truth(clean) {
		return err == nil, err
	}
	if begin, ok := strings.CutSuffix(python.Str(want), "*"); ok && strings.HasPrefix(versions[0], begin) {
		return true, nil
	}
	return fulfils(s.Call, versions, python.Str(want), s.IgnoreEpoch, false)
}

// shortest is how long a list of packages may be that is told of whole, in letters.
const shortest = 20

// wereOrWas is "were" for several.
func wereOrWas(n int) (s, was string) {
	if n > 1 {
		return "s", "were"
	}
	return "", "was"
}

// tell writes the lines on what was installed, held, was there, and failed.
func (r *result) tell(modified, same, missing []string, held *payload.Map) {
	if len(modified) > 0 {
		text := strings.Join(r.told(modified, r.desired), ", ")
		if s, were := wereOrWas(len(modified)); len([]rune(text)) < shortest {
			r.lines = append(r.lines, "The following packages were installed/updated: "+text)
		} else {
			r.lines = append(r.lines, fmt.Sprintf("%d targeted package%s %s installed/updated.", len(modified), s, were))
		}
	}
	rows := sorted(held)
	for _, row := range rows {
		if changes, _ := row.Value("changes").(*payload.Map); changes.Len() > 0 {
			r.tellHeld(row, changes)
		}
	}
	if len(same) > 0 {
		if s, were := wereOrWas(len(same)); len(same) <= 20 {
			r.lines = append(r.lines, "The following packages were already installed: "+
				strings.Join(r.told(same, r.desired), ", "))
		} else {
			r.lines = append(r.lines, fmt.Sprintf("%d targeted package%s %s already installed", len(same), s, were))
		}
	}
	for _, row := range rows {
		changes, _ := row.Value("changes").(*payload.Map)
		if changes.Len() > 0 {
			continue
		}
		r.lines = append(r.lines, row.Str("comment"))
		r.ok = r.ok && python.Truth(row.Value("result"))
	}
	if len(missing) > 0 {
		r.lines = slices.Insert(r.lines, 0, "The following packages failed to install/update: "+
			strings.Join(r.told(missing, r.desired), ", "))
		r.ok = false
	}
}

// tellHeld adds to the changes of a package that it is held, or not any more.
func (r *result) tellHeld(row, changes *payload.Map) {
	r.lines = append(r.lines, row.Str("comment"))
	name := row.Value("name")
	of, ok := r.changes.Value(name).(*payload.Map)
	if !ok {
		r.changes.Set(name, payload.M("new", python.Str(changes.Value("new"))))
		return
	}
	of = of.Clone()
	for _, key := range []string{"new", "old"} {
		text := of.Str(key)
		if text != "" {
			text += "\n"
		}
		of.Set(key, text+python.Str(changes.Value(key)))
	}
	r.changes.Set(name, of)
}

// tellAgain writes the lines on what was reinstalled.
func (r *result) tellAgain() error {
	var good, bad []string
	for v := range r.again.All() {
		name := python.Str(v)
		fine := r.installed.Has(name)
		if !r.Reinstall {
			found, err := salt(r.Call, "pkg.verify", r.verifyArgs(), name)
			if err != nil {
				return err
			}
			if fine = found.Len() == 0; !fine {
				r.altered.Set(name, found)
			}
		}
		if fine {
			good = append(good, name)
		} else {
			bad = append(bad, name)
		}
	}
	r.tellEach(good, "Package %s was reinstalled.", "The following files were remediated:")
	r.tellEach(bad, "Reinstall was not successful for package %s.", "The following files could not be remediated:")
	r.ok = r.ok && len(bad) == 0
	return nil
}

func (r *result) tellEach(names []string, text, files string) {
	told := r.told(names, r.desired)
	for i, name := range names {
		line := fmt.Sprintf(text, told[i])
		if altered := r.altered.Value(name); altered != nil {
			r.lines = append(r.lines, line+" "+files, pkg_resource.Nested(altered))
		} else {
			r.lines = append(r.lines, line)
		}
	}
}
