package pkg

import (
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

type heldArgs struct {
	Name    any          `arg:"name"`
	Version any          `arg:"version=None"`
	Packs   any          `arg:"pkgs=None"`
	Replace bool         `arg:"replace=False"`
	KW      *payload.Map `arg:"**kwargs"`
}

type unheldArgs struct {
	Name    any          `arg:"name"`
	Version any          `arg:"version=None"`
	Packs   any          `arg:"pkgs=None"`
	All     bool         `arg:"all=False"`
	KW      *payload.Map `arg:"**kwargs"`
}

var lockLine = pattern.New(`^(.+)-(\d+):(.*)\.\*`)

// locks are the packages that are held, with a version where the provider holds one; exact tells whether it does.
func locks(c *states.Call) (held *payload.Map, exact bool, plan *states.Plan, err error) {
	held = payload.NewMap(0)
	switch {
	case c.Has("pkg.list_locks"):
		held, err = salt(c, "pkg.list_locks", nil)
		return held, true, nil, err
	case c.Has("pkg.list_holds"):
		v, err := c.Salt("pkg.list_holds", payload.M("full", true))
		list, _ := v.([]any)
		for _, line := range payload.Texts(list) {
			if m := lockLine.FindStringSubmatch(line); m != nil {
				version := m[3]
				if m[2] != "0" {
					version = m[2] + ":" + version
				}
				held.Set(m[1], payload.M("version", version))
			} else {
				held.Set(line, payload.NewMap(0))
			}
		}
		return held, false, nil, err
	case c.Has("pkg.get_selections"):
		all, err := salt(c, "pkg.get_selections", payload.M("state", "hold"))
		for _, name := range all.List("hold") {
			held.Set(name, payload.NewMap(0))
		}
		return held, false, nil, err
	}
	return nil, false, wrong("No any function to get the list of held packages available.\n" +
		"Check if the package manager supports package locking."), nil
}

// lock is what holds a package.
func lock(held *payload.Map, name any) (of *payload.Map, version string) {
	of, _ = held.Value(name).(*payload.Map)
	return of, strings.TrimLeft(loader.Text(of.Value("version")), "= ")
}

// ofVersion names a version, if there is one.
func ofVersion(v any) string {
	if !python.Truth(v) {
		return ""
	}
	return " (version = " + python.Str(v) + ")"
}

// holding collects what is held and let go.
type holding struct {
	*states.Call
	name    any
	changes *payload.Map
	lines   []string
	ok      bool
	todo    []func() error // what a real run does, in this order
	shown   []string       // what test mode shows
}

// would adds something to be done.
func (h *holding) would(text string, do func() error) {
	h.shown, h.todo = append(h.shown, text), append(h.todo, do)
}

// plan shows all of it, or does it.
func (h *holding) plan() states.Plan {
	if len(h.todo) == 0 {
		return states.Correct("No changes made")
	}
	p := states.Would(strings.Join(h.shown, "\n"), nil, func() (states.Done, error) {
		for _, do := range h.todo {
			if err := do(); err != nil {
				return states.Done{}, err
			}
		}
		text := strings.Join(h.lines, "\n")
		if text == "" && h.changes.Len() == 0 {
			text = "No changes made"
		}
		return states.Done{Result: h.ok, Comment: text, Changes: h.changes}, nil
	})
	p.Result = true // in test mode, too: Salt says so
	return p
}

// ask has the provider hold a package or let it go, and gives what it says of it.
func (h *holding) ask(by string, pack, name any) (all, row *payload.Map, err error) {
	all, err = salt(h.Call, by, payload.M("name", h.name, "pkgs", []any{pack}))
	row, _ = all.Value(name).(*payload.Map)
	return all, row, err
}

// letGo lets a package go.
func (h *holding) letGo(name any) error {
	all, row, err := h.ask("pkg.unhold", name, name)
	if err != nil {
		return err
	}
	h.ok = h.ok && python.Truth(row.Value("result"))
	if text := row.Str("comment"); text != "" {
		h.lines = append(h.lines, text)
	}
	h.changes.Update(all)
	return nil
}

func held(c *states.Call, a heldArgs) (states.Plan, error) {
	list, isList := a.Packs.([]any)
	if isList && len(list) == 0 && !a.Replace {
		return states.Correct("No packages to be held provided"), nil
	}
	if python.Truth(a.Name) && a.Packs == nil {
		list = []any{a.Name}
		if python.Truth(a.Version) {
			list = []any{payload.M(a.Name, a.Version)}
		}
	}
	there, exact, plan, err := locks(c)
	if plan != nil || err != nil {
		return orNone(plan), err
	}
	if !c.Has("pkg.hold") {
		return states.Wrong("`hold` function is not implemented for the package manager."), nil
	}
	h := &holding{Call: c, name: a.Name, changes: payload.NewMap(0), ok: true}
	kept := payload.NewMap(len(list))
	for _, pack := range list {
		name, version := nameAndVersion(pack)
		kept.Set(name, true)
		of, locked := lock(there, name)
		if of != nil && (!exact || locked == loader.Text(version)) {
			continue
		}
		text := "The following package would be held: "
		if of != nil {
			text = "The following package's hold rule would be updated: "
		}
		h.would(text+python.Str(name)+ofVersion(version), func() error { return h.keep(pack, name, of != nil) })
	}
	for name := range there.All() {
		if of, _ := lock(there, name); !a.Replace || kept.Has(name) || !isPackage(of) {
			continue
		}
		h.would("The following package would be unheld: "+python.Str(name), func() error { return h.letGo(name) })
	}
	return h.plan(), nil
}

func nameAndVersion(pack any) (name, version any) {
	m, ok := pack.(*payload.Map)
	if !ok || m.Len() == 0 {
		return pack, nil
	}
	name = m.Keys()[0]
	return name, m.Value(name)
}

// isPackage tells whether a lock is one of a package, and not of a pattern or a patch.
func isPackage(of *payload.Map) bool {
	kind, given := of.Get("type")
	return !given || kind == any("package")
}

// keep holds a package; one that was held with another version is let go before.
func (h *holding) keep(pack, name any, again bool) error {
	released := false
	if again {
		_, row, err := h.ask("pkg.unhold", name, name)
		if err != nil {
			return err
		}
		released = python.Truth(row.Value("result"))
	}
	all, row, err := h.ask("pkg.hold", pack, name)
	if err != nil {
		return err
	}
	kept := python.Truth(row.Value("result"))
	h.ok = h.ok && kept
	text := "Package " + python.Str(name)
	switch {
	case released && kept:
		text += " was updated with hold rule"
	case kept:
		text += " is now being held"
	default:
		text += " was not held"
	}
	h.lines = append(h.lines, text)
	h.changes.Update(all)
	return nil
}

func unheld(c *states.Call, a unheldArgs) (states.Plan, error) {
	list, isList := a.Packs.([]any)
	if isList && len(list) == 0 && !a.All {
		return states.Correct("No packages to be unheld provided"), nil
	}
	if python.Truth(a.Name) && a.Packs == nil {
		list = []any{payload.M(a.Name, a.Version)}
	}
	there, exact, plan, err := locks(c)
	if plan != nil || err != nil {
		return orNone(plan), err
	}
	wanted := payload.NewMap(len(list))
	for _, pack := range list {
		name, version := nameAndVersion(pack)
		wanted.Set(name, version)
	}
	h := &holding{Call: c, name: a.Name, changes: payload.NewMap(0), ok: true}
	for name := range there.All() {
		of, locked := lock(there, name)
		if !exact {
			locked = ""
		}
		version, named := wanted.Get(name)
		if !isPackage(of) || !a.All && (!named || locked != "" && locked != loader.Text(version)) {
			continue
		}
		text := "The following package would be unheld: " + python.Str(name)
		if python.Truth(version) {
			shown := any(locked)
			if locked == "" {
				shown = "None"
			}
			text += ofVersion(shown)
		}
		h.would(text, func() error { return h.letGo(name) })
	}
	return h.plan(), nil
}
