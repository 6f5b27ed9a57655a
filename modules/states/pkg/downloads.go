package pkg

import (
	"strings"

	"brine/modules/execution/pkg_resource"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// findDownloads finds the packages that are to be downloaded. A plan says why none is.
func (s *search) findDownloads() (*states.Plan, error) {
	var err error
	if s.current, err = salt(s.Call, "pkg.list_downloaded", s.KW); err != nil {
		return nil, err
	}
	if s.desired, err = pkg_resource.Repack(s.Call.Call, s.Packs, true); err != nil {
		return nil, err
	}
	if s.desired.Len() == 0 {
		return wrong("Invalidly formatted pkgs parameter. See minion log."), nil
	}
	if !python.Truth(s.KW.Value("skip_suggestions")) {
		if plan, err := suggestions(s.Call, s.desired.Keys(), s.FromRepo, s.KW); plan != nil || err != nil {
			return plan, err
		}
	}
	s.targets = payload.NewMap(0)
	for name, want := range s.desired.All() {
		versions := versionsAt(s.current, name)
		if len(versions) > 0 && !python.Truth(want) {
			continue
		}
		there := false
		if len(versions) > 0 {
			s.exact = true
			there, err = fulfils(s.Call, versions, python.Str(want), s.IgnoreEpoch, false)
		}
		switch {
		case isExecution(err):
			s.problems = append(s.problems, loader.Message(err))
		case err != nil:
			return nil, err
		case !there:
			s.targets.Set(name, want)
		}
	}
	if len(s.problems) > 0 {
		return wrong(strings.Join(s.problems, " ")), nil
	}
	if s.targets.Len() > 0 {
		return nil, nil
	}
	text := "All specified packages are already downloaded"
	if s.exact {
		text = "All specified packages (matching specified versions) are already downloaded"
	}
	plan := states.Correct(text)
	return &plan, nil
}
