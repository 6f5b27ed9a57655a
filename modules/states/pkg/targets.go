package pkg

import (
	"log/slog"
	"os"
	"slices"
	"strings"

	"brine/modules/execution/pkg_resource"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// search looks for what a state is to install.
type search struct {
	*states.Call
	*installArgs
	refresh bool

	current, provided *payload.Map // what is installed, and what it provides; lists of versions and of names
	desired           *payload.Map // name → version, condition or file; nil for any version
	targets, again    *payload.Map // installed or upgraded, and reinstalled: name → what is desired
	unpurge           []string
	altered           *payload.Map // files of packages that differ from what was installed
	problems          []string
	warnings          []any
	exact             bool // a version was compared
}

// find finds it. A plan that is not nil says that nothing is to be installed, and why.
func (s *search) find() (*states.Plan, error) {
	s.targets, s.again, s.altered = payload.NewMap(0), payload.NewMap(0), payload.NewMap(0)
	if python.Truth(s.Packs) && python.Truth(s.Sources) {
		return wrong(`Only one of "pkgs" and "sources" is permitted.`), nil
	}
	if plan, err := s.look(); plan != nil || err != nil {
		return plan, err
	}
	if !python.Truth(s.Sources) {
		if plan, err := s.preflight(); plan != nil || err != nil {
			return plan, err
		}
		if err := s.newest(); err != nil {
			return nil, err
		}
	}
	for name, want := range s.desired.All() {
		if err := s.judge(python.Str(name), want); err != nil {
			return nil, err
		}
	}
	if len(s.problems) > 0 {
		return wrong(strings.Join(s.problems, " ")), nil
	}
	if s.targets.Len() == 0 && s.again.Len() == 0 && len(s.unpurge) == 0 {
		text := "All specified packages are already installed"
		if s.exact && !python.Truth(s.Sources) {
			text += " and are at the desired version"
		}
		plan := states.Correct(text)
		return &plan, nil
	}
	return nil, nil
}

func wrong(comment string) *states.Plan {
	plan := states.Wrong(comment)
	return &plan
}

// look asks what is there and what is wanted.
func (s *search) look() (*states.Plan, error) {
	var err error
	if s.current, err = salt(s.Call, "pkg.list_pkgs", s.KW.Clone().Set("versions_as_list", true)); err != nil {
		if isExecution(err) {
			return wrong(loader.Message(err)), nil
		}
		return nil, err
	}
	if python.Truth(s.KW.Value("resolve_capabilities")) && s.Has("pkg.list_provides") {
		if s.provided, err = salt(s.Call, "pkg.list_provides", s.KW); err != nil {
			return nil, err
		}
	}
	what := "pkgs"
	if python.Truth(s.Packs) {
		s.desired, err = pkg_resource.Repack(s.Call.Call, s.Packs, false)
	} else {
		what = "sources"
		s.desired, err = pkg_resource.PackSources(s.Call.Call, s.Sources, s.Normalize)
	}
	if err != nil {
		return nil, err
	}
	if s.desired.Len() == 0 {
		return wrong("Invalidly formatted '" + what + "' parameter. See minion log."), nil
	}
	purge, err := salt(s.Call, "pkg.list_pkgs", s.KW.Clone().Set("purge_desired", true))
	for name := range s.desired.All() {
		if purge.Has(name) {
			s.unpurge = append(s.unpurge, python.Str(name))
		}
	}
	return nil, err
}

// preflight asks a provider that can tell whether there are such packages.
func (s *search) preflight() (*states.Plan, error) {
	if s.SkipSuggestions || !s.Has("pkg.check_db") {
		return nil, nil
	}
	var missing []any
	for name, want := range s.desired.All() {
		there, err := s.Current(name, want)
		if err != nil {
			return nil, err
		}
		if !there {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	return suggestions(s.Call, missing, s.FromRepo, s.KW)
}

// Current tells whether a package is installed as it is wanted.
func (s *search) Current(name, want any) (bool, error) {
	versions := versionsAt(s.current, name)
	if len(versions) == 0 || want == nil {
		return len(versions) > 0, nil
	}
	return fulfils(s.Call, versions, python.Str(want), s.IgnoreEpoch, false)
}

// suggestions is a plan that says which packages nobody has heard of; nil where all are known.
func suggestions(c *states.Call, names []any, fromRepo any, kw *payload.Map) (*states.Plan, error) {
	if !c.Has("pkg.check_db") {
		return nil, nil
	}
	known, err := salt(c, "pkg.check_db", kw.Clone().Set("fromrepo", fromRepo), names...)
	if isExecution(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var texts, unknown []string
	for name, v := range known.All() {
		about, _ := v.(*payload.Map)
		if about.Value("found") != any(false) {
			continue
		}
		if like := about.List("suggestions"); len(like) > 0 {
			texts = append(texts, "Package '"+python.Str(name)+"' not found (possible matches: "+
				strings.Join(payload.Texts(like), ", ")+")")
		} else {
			unknown = append(unknown, python.Str(name))
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		texts = slices.Insert(texts, 0, "The following package(s) were not found, and no possible matches were found "+
			"in the package db: "+strings.Join(unknown, ", "))
	}
	if len(texts) == 0 {
		return nil, nil
	}
	if len(texts) > 1 {
		texts = append(texts, "")
	}
	return wrong(strings.TrimRightFunc(strings.Join(texts, ". "), python.IsSpace)), nil
}

// newest puts versions in the place of the word latest.
func (s *search) newest() error {
	var names []any
	for name, want := range s.desired.All() {
		if want == any("latest") {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	v, err := s.Salt("pkg.latest_version", s.KW.Clone().Set("refresh", s.refresh), names...)
	if err != nil {
		return err
	}
	s.refresh = false
	found, ok := v.(*payload.Map)
	if !ok {
		found = payload.M(names[0], v)
	}
	for name, version := range found.All() {
		if !python.Truth(version) {
			version = nil
			if there := versionsAt(s.current, name); len(there) > 0 {
				version = there[len(there)-1]
			}
		}
		s.desired.Set(name, version)
	}
	return nil
}

// installedAs are the versions of a package that is installed under its name, or another that the provider gives it.
func (s *search) installedAs(name string) ([]string, error) {
	versions := versionsAt(s.current, name)
	if len(versions) == 0 && s.Has("pkg.normalize_name") {
		v, err := s.Salt("pkg.normalize_name", nil, name)
		if err != nil {
			return nil, err
		}
		versions = versionsAt(s.current, v)
	}
	if by := versionsAt(s.provided, name); len(versions) == 0 && len(by) > 0 {
		versions = versionsAt(s.current, by[0])
	}
	return versions, nil
}

// judge tells what is to become of one package.
func (s *search) judge(name string, want any) error {
	versions, err := s.installedAs(name)
	if err != nil {
		return err
	}
	version, fromFile := want, python.Truth(s.Sources)
	switch {
	case len(versions) == 0:
		s.targets.Set(name, want)
		return nil
	case s.Reinstall:
		s.again.Set(name, want)
		return nil
	case fromFile:
		var known bool
		if version, known, err = s.versionOfFile(want); err != nil || !known {
			return err
		}
	default:
		done, err := s.judgeOpen(name, want)
		if err != nil || done {
			return err
		}
	}
	good, err := fulfils(s.Call, versions, python.Str(version), s.IgnoreEpoch, !fromFile && s.AllowUpdates)
	if isExecution(err) {
		s.problems = append(s.problems, loader.Message(err))
		return nil
	}
	s.exact = true
	if err != nil || good {
		return err
	}
	equal := func(c condition) bool { return c.oper == "==" }
	if s.verifies() && slices.ContainsFunc(conditionsOf(python.Str(want)), equal) {
		return s.verify(name, want)
	}
	s.targets.Set(name, want)
	return nil
}

// judgeOpen judges a package of which no version is wanted, or that lacks something else.
func (s *search) judgeOpen(name string, want any) (done bool, err error) {
	enough, err := s.Salt("pkg_resource.check_extra_requirements", nil, name, want)
	if err != nil {
		return false, err
	}
	if !python.Truth(enough) {
		s.targets.Set(name, want)
		return true, nil
	}
	clean, err := pkg_resource.VersionClean(s.Call.Call, want)
	if err != nil || clean != nil {
		return false, err
	}
	if s.verifies() {
		err = s.verify(name, want)
	}
	return true, err
}

// verifies tells whether files of packages are to be looked at.
func (s *search) verifies() bool {
	_, isList := s.PkgVerify.([]any)
	return isList || s.PkgVerify == any(true)
}

// verifyArgs are the arguments of pkg.verify.
func (s *installArgs) verifyArgs() *payload.Map {
	kw := s.KW.Clone().Set("ignore_types", []any{}).Set("verify_options", []any{})
	list, _ := s.PkgVerify.([]any)
	for _, item := range list {
		m, _ := item.(*payload.Map)
		for _, key := range []string{"ignore_types", "verify_options"} {
			if v := m.Value(key); v != nil {
				kw.Set(key, v)
			}
		}
	}
	return kw
}

// verify has a package installed again whose files are not as they were installed.
func (s *search) verify(name string, want any) error {
	found, err := salt(s.Call, "pkg.verify", s.verifyArgs(), name)
	if err != nil {
		s.problems = append(s.problems, loader.Message(err))
		return nil
	}
	if found.Len() > 0 {
		s.again.Set(name, want)
		s.altered.Set(name, found)
	}
	return nil
}

// versionOfFile is the version of a package file; known is false where it cannot be told.
func (s *search) versionOfFile(source any) (version any, known bool, err error) {
	if !s.Has("lowpkg.bin_pkg_info") {
		return nil, false, nil
	}
	text := python.Str(source)
	kw := payload.M("saltenv", s.Saltenv)
	if v, given := s.KW.Get("verify_ssl"); given {
		kw.Set("verify_ssl", v)
	}
	path, err := s.Salt("cp.cache_file", kw, text)
	switch {
	case isExecution(err):
		s.problems = append(s.problems, "Unable to cache "+text+": "+loader.Message(err))
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case !python.Truth(path):
		s.problems = append(s.problems, "Unable to cache "+text+": file not found")
		return nil, false, nil
	}
	if _, err := os.Stat(python.Str(path)); err != nil {
		s.problems = append(s.problems, text+" does not exist on minion")
		return nil, false, nil
	}
	about, err := salt(s.Call, "lowpkg.bin_pkg_info", nil, path)
	if err == nil && about == nil {
		s.Log(slog.LevelWarn, "Failed to parse metadata for "+text)
		s.warnings = append(s.warnings, "Failed to parse metadata for "+text)
	}
	return about.Value("version"), about != nil, err
}
