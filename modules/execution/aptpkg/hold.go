package aptpkg

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"brine/config/yaml"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

type holdArgs struct {
	Name    any          `arg:"name=None"`
	Packs   any          `arg:"pkgs=None"`
	Sources any          `arg:"sources=None"`
	KW      *payload.Map `arg:"**kwargs"`
}

// targets are the names of the packages of a call.
func (a holdArgs) targets() ([]any, error) {
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
	var out []any
	switch x := from.(type) {
	case *payload.Map:
		out = x.Keys()
	case []any:
		for _, item := range x {
			if m, ok := item.(*payload.Map); ok && m.Len() > 0 {
				item = m.Keys()[0]
			}
			out = append(out, item)
		}
	}
	if !packs && !sources {
		out = []any{a.Name}
	}
	return out, nil
}

func hold(c *loader.Call, a holdArgs) (*payload.Map, error) {
	return a.each(c, func(target string, row, all *payload.Map) error {
		switch {
		case len(all.List("hold")) > 0:
			row.Set("result", true).Set("comment", fmt.Sprintf("Package %s is already set to be held.", target))
		case tested(c, a.KW):
			row.Set("result", nil).Set("comment", fmt.Sprintf("Package %s is set to be held.", target))
		default:
			return selectOne(c, row, target, "hold", "Package %s is now being held.")
		}
		return nil
	})
}

func unhold(c *loader.Call, a holdArgs) (*payload.Map, error) {
	return a.each(c, func(target string, row, all *payload.Map) error {
		switch {
		case all.Len() == 0:
			row.Set("comment", fmt.Sprintf("Package %s does not have a state.", target))
		case len(all.List("hold")) == 0:
			row.Set("result", true).Set("comment", fmt.Sprintf("Package %s is already set not to be held.", target))
		case tested(c, a.KW):
			row.Set("result", nil).Set("comment", fmt.Sprintf("Package %s is set not to be held.", target))
		default:
			return selectOne(c, row, target, "install", "Package %s is no longer being held.")
		}
		return nil
	})
}

// each does something with each package of a call, and what dpkg has selected it for.
func (a holdArgs) each(c *loader.Call, do func(target string, row, all *payload.Map) error) (*payload.Map, error) {
	targets, err := a.targets()
	if err != nil {
		return nil, err
	}
	ret := payload.NewMap(len(targets))
	for _, v := range targets {
		target := python.Str(v)
		if err := namesOnly(target); err != nil {
			return nil, err
		}
		row := payload.M("name", target, "changes", payload.NewMap(0), "result", false, "comment", "")
		ret.Set(target, row)
		all, err := selections(c, selected{Pattern: target})
		if err == nil {
			err = do(target, row, all)
		}
		if err != nil {
			return nil, err
		}
	}
	return ret, nil
}

// selectOne selects a package for something. Unlike Salt: one that dpkg does not know is told of, without a traceback.
func selectOne(c *loader.Call, row *payload.Map, target, what, comment string) error {
	done, err := setSelections(c, payload.M(what, []any{target}), false)
	if err != nil {
		return err
	}
	changes, ok := done.Value(target).(*payload.Map)
	if !ok {
		row.Set("comment", fmt.Sprintf("Package %s could not be set.", target))
		return nil
	}
	row.Set("changes", changes).Set("result", true).Set("comment", fmt.Sprintf(comment, target))
	return nil
}

type selectArgs struct {
	Path      any    `arg:"path=None"`
	Selection any    `arg:"selection=None"`
	Clear     bool   `arg:"clear=False"`
	Saltenv   string `arg:"saltenv=base"`
}

// selectPackages is pkg.set_selections.
func selectPackages(c *loader.Call, a selectArgs) (*payload.Map, error) {
	path, given := python.Truth(a.Path), python.Truth(a.Selection)
	switch {
	case !path && !given:
		return payload.NewMap(0), nil
	case path && given:
		return nil, loader.InvocErr("The 'selection' and 'path' arguments to pkg.set_selections are mutually " +
			"exclusive, and cannot be specified together")
	case path:
		text, err := cachedText(c, python.Str(a.Path), a.Saltenv)
		if err != nil {
			return nil, err
		}
		a.Selection = selectionsOf(strings.Split(text, "\n"))
	}
	if text, ok := a.Selection.(string); ok {
		v, err := yaml.Load([]byte(text))
		if err != nil {
			return nil, loader.InvocErr("Improperly-formatted selection: %v", err)
		}
		a.Selection = v
	}
	selection, ok := a.Selection.(*payload.Map)
	if !ok {
		return nil, loader.InvocErr("Improperly-formatted selection: %s", python.Str(a.Selection))
	}
	return setSelections(c, selection, a.Clear)
}

// cachedText is what a file of the file server has.
func cachedText(c *loader.Call, url, saltenv string) (string, error) {
	v, err := c.Call("cp.cache_file", []any{url, saltenv}, nil)
	if err != nil {
		return "", err
	}
	if !python.Truth(v) {
		return "", loader.ExecErr("Unable to cache %s", url)
	}
	f, err := os.Open(python.Str(v))
	if err != nil {
		return "", err
	}
	defer f.Close()
	const most = 16 << 20 // bytes
	text, err := io.ReadAll(io.LimitReader(f, most))
	return string(text), err
}

// selectionsOf reads lines of dpkg: names and what they are selected for.
func selectionsOf(lines []string) *payload.Map {
	states := payload.NewMap(0)
	for _, line := range lines {
		if cols := strings.Fields(line); len(cols) == 2 {
			of, _ := states.Value(cols[1]).([]any)
			states.Set(cols[1], append(of, cols[0]))
		}
	}
	return states
}

// setSelections selects packages, and tells which were selected for something else before.
func setSelections(c *loader.Call, selection *payload.Map, clear bool) (*payload.Map, error) {
	var bad []string
	for what := range selection.All() {
		if !slices.Contains([]any{"install", "hold", "deinstall", "purge"}, what) {
			bad = append(bad, python.Str(what))
		}
	}
	if len(bad) > 0 {
		return nil, loader.InvocErr("Invalid state(s): %s", strings.Join(bad, ", "))
	}
	for _, names := range selection.All() {
		if err := namesOnly(loader.StringList(names)...); err != nil {
			return nil, err
		}
	}
	test := python.Truth(c.Opts().Value("test"))
	if clear && !test {
		out, err := unscoped(c, []string{"dpkg", "--clear-selections"}, nil)
		if err == nil && out.Code != 0 {
			err = loader.ExecErr("Running dpkg --clear-selections failed: %s", out.Stderr)
		}
		if err != nil {
			return nil, err
		}
	}
	now, err := selections(c, selected{})
	if err != nil {
		return nil, err
	}
	before := payload.NewMap(0)
	for what, names := range now.All() {
		for _, name := range names.([]any) {
			before.Set(name, what)
		}
	}
	ret := payload.NewMap(0)
	for what, names := range selection.All() {
		for _, name := range loader.StringList(names) {
			if before.Value(name) == what || test {
				continue
			}
			out, err := unscoped(c, []string{"dpkg", "--set-selections"}, payload.M("stdin", name+" "+python.Str(what)))
			if err != nil {
				return nil, err
			}
			if out.Code != 0 {
				c.Log(slog.LevelError, fmt.Sprintf("failed to set state %s for package %s", python.Str(what), name))
				continue
			}
			ret.Set(name, payload.M("old", before.Value(name), "new", what))
		}
	}
	return ret, nil
}
