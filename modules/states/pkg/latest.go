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

type latestArgs struct {
	Name       any          `arg:"name"`
	Refresh    any          `arg:"refresh=None"`
	FromRepo   any          `arg:"fromrepo=None"`
	SkipVerify any          `arg:"skip_verify=False"`
	Packs      any          `arg:"pkgs=None"`
	WatchFlags any          `arg:"watch_flags=True"` // of Gentoo
	KW         *payload.Map `arg:"**kwargs"`
}

// newest is what a call of latest found out.
type newest struct {
	*states.Call
	latestArgs
	desired  []any
	current  *payload.Map // name → version
	targets  *payload.Map // name → version to be installed
	upToDate []string
}

func latest(c *states.Call, a latestArgs) (states.Plan, error) {
	n := &newest{Call: c, latestArgs: a, desired: []any{a.Name}, targets: payload.NewMap(0)}
	list, isList := a.Packs.([]any)
	switch {
	case python.Truth(a.KW.Value("sources")):
		return states.Wrong(`The "sources" parameter is not supported.`), nil
	case python.Truth(a.Packs):
		packed, err := pkg_resource.Repack(c.Call, a.Packs, true)
		if err != nil {
			return states.Plan{}, err
		}
		if n.desired = packed.Keys(); len(n.desired) == 0 {
			return states.Wrong(`Invalidly formatted "pkgs" parameter. See minion log.`), nil
		}
	case isList && len(list) == 0:
		return states.Correct("No packages to install provided"), nil
	}
	n.KW = a.KW.Clone().Set("saltenv", c.Saltenv)
	if plan, err := n.look(); plan != nil || err != nil {
		return orNone(plan), err
	}
	if n.targets.Len() == 0 {
		return states.Correct(n.allUpToDate()), nil
	}
	if python.Truth(a.Packs) {
		for _, item := range list {
			if !n.targets.Has(item) {
				n.upToDate = append(n.upToDate, python.Str(item))
			}
		}
		slices.Sort(n.upToDate)
	}
	comment, changes, err := n.show()
	return states.Would(comment, changes, n.apply), err
}

func orNone(p *states.Plan) states.Plan {
	if p == nil {
		return states.Plan{}
	}
	return *p
}

// look asks which versions there are and could be.
func (n *newest) look() (*states.Plan, error) {
	refresh := pkg_resource.WantsRefresh(n.Call.Call, n.Refresh)
	if n.Has("pkg.resolve_capabilities") {
		v, err := n.Salt("pkg.resolve_capabilities", n.KW.Clone().Set("refresh", refresh), n.desired)
		if err != nil {
			return nil, err
		}
		n.desired, _ = v.([]any)
		refresh = false
	}
	offered, err := n.each("pkg.latest_version", n.KW.Clone().Set("fromrepo", n.FromRepo).Set("refresh", refresh))
	if isExecution(err) {
		return wrong("An error was encountered while checking the newest available version of package(s): " +
			loader.Message(err)), nil
	}
	if err != nil {
		return nil, err
	}
	if n.current, err = n.each("pkg.version", n.KW); isExecution(err) {
		return wrong(loader.Message(err)), nil
	}
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, name := range n.desired {
		if version := offered.Value(name); python.Truth(version) {
			n.targets.Set(name, version)
		} else if !python.Truth(n.current.Value(name)) {
			problems = append(problems, "No information found for '"+python.Str(name)+"'.")
		}
	}
	if len(problems) > 0 {
		return wrong(strings.Join(problems, " ")), nil
	}
	return nil, nil
}

// each asks the provider something of each package.
func (n *newest) each(by string, kw *payload.Map) (*payload.Map, error) {
	v, err := n.Salt(by, kw, n.desired...)
	if m, ok := v.(*payload.Map); ok || err != nil {
		return m, err
	}
	return payload.M(n.desired[0], v), nil
}

// few is how many packages are told of by name.
const few = 10

func (n *newest) allUpToDate() string {
	names := payload.Texts(n.desired)
	slices.Sort(names)
	switch {
	case len(names) > few:
		return fmt.Sprintf("All %d packages are up-to-date.", len(names))
	case len(names) > 1:
		return "All packages are up-to-date (" + strings.Join(names, ", ") + ")."
	}
	return "Package " + names[0] + " is already up-to-date"
}

// show tells what would be done. It costs a look into the repositories, for which a real run has no need.
func (n *newest) show() (comment string, changes *payload.Map, err error) {
	if !n.Test {
		return "", nil, nil
	}
	comment = "The following packages would be installed/upgraded: " + strings.Join(sortedKeys(n.targets), ", ")
	if len(n.upToDate) > few {
		comment += fmt.Sprintf("\n%d packages are already up-to-date", len(n.upToDate))
	} else if len(n.upToDate) > 0 {
		told := make([]string, len(n.upToDate))
		for i, name := range n.upToDate {
			told[i] = name + " (" + n.current.Str(name) + ")"
		}
		comment += "\nThe following packages are already up-to-date: " + strings.Join(told, ", ")
	}
	changes, err = installable(n.Call, n.targets, n.current)
	return comment, changes, err
}

func sortedKeys(m *payload.Map) []string {
	names := payload.Texts(m.Keys())
	slices.Sort(names)
	return names
}

func (n *newest) apply() (states.Done, error) {
	const doing = "An error was encountered while installing package(s): "
	v, err := n.Salt("pkg.install", n.KW.Clone().Set("name", nil).Set("refresh", false).Set("fromrepo", n.FromRepo).
		Set("skip_verify", n.SkipVerify).Set("pkgs", n.targets.Keys()))
	if isExecution(err) {
		return states.Failed(doing+loader.Message(err), nil)
	}
	if err != nil {
		return states.Done{}, err
	}
	changes, _ := v.(*payload.Map)
	if changes.Len() == 0 {
		return states.Failed(n.nothingDone(), nil)
	}
	var bad, good []string
	for name, version := range n.targets.All() {
		of, _ := changes.Value(name).(*payload.Map)
		now := strings.Split(of.Str("new"), ",")
		if of == nil || of.Value("new") != nil && !slices.Contains(now, python.Str(version)) && version != any("latest") {
			bad = append(bad, python.Str(name))
		} else {
			good = append(good, python.Str(name))
		}
	}
	slices.Sort(bad)
	slices.Sort(good)
	var texts []string
	if len(bad) > 0 {
		texts = append(texts, "The following packages failed to update: "+strings.Join(bad, ", "))
	}
	if len(good) > 0 {
		texts = append(texts, "The following packages were successfully installed/upgraded: "+strings.Join(good, ", "))
	}
	if len(n.upToDate) > few {
		texts = append(texts, fmt.Sprintf("%d packages were already up-to-date ", len(n.upToDate)))
	} else if len(n.upToDate) > 0 {
		texts = append(texts, "The following packages were already up-to-date: "+strings.Join(n.upToDate, ", "))
	}
	return states.Done{Result: len(bad) == 0, Comment: strings.Join(texts, " "), Changes: changes}, nil
}

// nothingDone is the comment where the provider changed nothing.
func (n *newest) nothingDone() string {
	names := sortedKeys(n.targets)
	text := "Package " + names[0] + " failed to update."
	switch {
	case len(names) > few:
		text = fmt.Sprintf("%d targeted packages failed to update. See debug log for details.", len(names))
	case len(names) > 1:
		text = "The following targeted packages failed to update. See debug log for details: (" +
			strings.Join(names, ", ") + ")."
	}
	if len(n.upToDate) > few {
		text += fmt.Sprintf("%d packages were already up-to-date", len(n.upToDate))
	} else if len(n.upToDate) > 0 {
		text += " The following packages were already up-to-date: " + strings.Join(n.upToDate, ", ")
	}
	return text
}
