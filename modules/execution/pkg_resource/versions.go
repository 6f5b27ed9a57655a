package pkg_resource

import (
	"maps"
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// sortedNames are the names in one of two maps.
func sortedNames(a, b *payload.Map) []string {
	all := map[string]bool{}
	for _, m := range []*payload.Map{a, b} {
		for name := range m.All() {
			all[python.Str(name)] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

type versionArgs struct {
	Names []any        `arg:"*names"`
	KW    *payload.Map `arg:"**kwargs"`
}

// version asks the provider for all packages.
func version(c *loader.Call, a versionArgs) (any, error) {
	kw, out, glob := a.KW.Clone(), payload.NewMap(len(a.Names)), false
	asList := dicts.IsTrue(kw.Value("versions_as_list"))
	kw.Delete("versions_as_list")
	if len(a.Names) > 0 {
		v, err := c.Call("pkg.list_pkgs", nil, kw.Set("versions_as_list", true))
		if err != nil {
			return nil, err
		}
		all, _ := v.(*payload.Map)
		for _, name := range payload.Texts(a.Names) {
			if !strings.Contains(name, "*") {
				list, _ := all.Value(name).([]any)
				out.Set(name, append([]any{}, list...))
				continue
			}
			glob = true
			for known, versions := range all.All() {
				if fnmatch.Match(name, python.Str(known)) {
					out.Set(known, versions)
				}
			}
		}
	}
	if !asList {
		Stringify(out)
	}
	if out.Len() == 1 && !glob {
		return out.Value(out.Keys()[0]), nil
	}
	return out, nil
}

// Stringify joins the versions of each package.
func Stringify(m *payload.Map) *payload.Map {
	for name, v := range m.All() {
		list, _ := v.([]any)
		m.Set(name, strings.Join(payload.Texts(list), ","))
	}
	return m
}

type cleaned struct {
	Version any `arg:"verstr"`
}

func versionClean(c *loader.Call, a cleaned) (any, error) { return VersionClean(c, a.Version) }

// VersionClean asks the provider to clean a version, if it does that.
func VersionClean(c *loader.Call, version any) (any, error) {
	const by = "pkg.version_clean"
	if python.Truth(version) && c.Env.Has(by) {
		return c.Call(by, []any{version}, nil)
	}
	return version, nil
}

type required struct {
	Name    any `arg:"pkgname"`
	Version any `arg:"pkgver"`
}

func extraRequirements(c *loader.Call, a required) (any, error) {
	const by = "pkg.check_extra_requirements"
	if python.Truth(a.Version) && c.Env.Has(by) {
		return c.Call(by, []any{a.Name, a.Version}, nil)
	}
	return true, nil
}

type comparison struct {
	One         any    `arg:"ver1"`
	Oper        string `arg:"oper"`
	Other       any    `arg:"ver2"`
	IgnoreEpoch bool   `arg:"ignore_epoch=False"`
}

// versionCompare compares as any program's versions are, whatever the provider.
func versionCompare(_ *loader.Call, a comparison) (bool, error) {
	one, other := python.Str(a.One), python.Str(a.Other)
	if a.IgnoreEpoch {
		one, other = withoutEpoch(one), withoutEpoch(other)
	}
	return Holds(loose(one, other), a.Oper), nil
}

func withoutEpoch(v string) string {
	if _, rest, ok := strings.Cut(v, ":"); ok {
		return rest
	}
	return v
}

// Holds tells whether an order of two versions (-1, 0, 1) is what an operator says.
func Holds(order int, oper string) bool {
	switch oper {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case ">=":
		return order >= 0
	case ">":
		return order > 0
	}
	return false
}

var parts = pattern.New(`\d+|[a-z]+|\.|[^\da-z.]+`)

// loose orders versions part by part: numbers as numbers, the rest as text.
func loose(one, other string) int {
	split := func(v string) []string {
		return slices.DeleteFunc(parts.FindAllString(v, -1), func(p string) bool { return p == "." })
	}
	return slices.CompareFunc(split(one), split(other), func(a, b string) int {
		x, errX := python.ParseInt(a, 10)
		y, errY := python.ParseInt(b, 10)
		nx, okX := python.Number(x)
		ny, okY := python.Number(y)
		if errX != nil || errY != nil || !okX || !okY || nx == ny {
			return strings.Compare(strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0"))
		}
		if nx < ny {
			return -1
		}
		return 1
	})
}

type versioned struct {
	Epoch   any `arg:"epoch"`
	Version any `arg:"version"`
	Release any `arg:"release"`
}

func formatVersion(_ *loader.Call, a versioned) (string, error) { return a.text(), nil }

func (a versioned) text() string {
	text := python.Str(a.Version)
	if python.Truth(a.Epoch) {
		text = python.Str(a.Epoch) + ":" + text
	}
	if python.Truth(a.Release) {
		text += "-" + python.Str(a.Release)
	}
	return text
}

type formatted struct {
	Packages *payload.Map `arg:"packages"`
	AsList   bool         `arg:"versions_as_list"`
	Attr     any          `arg:"attr"`
}

// attributes are what list_pkgs can tell of a package.
var attributes = []string{"epoch", "version", "release", "arch", "install_date", "install_date_time_t"}

func formatList(c *loader.Call, a formatted) (*payload.Map, error) {
	out := payload.NewMap(a.Packages.Len())
	for name, v := range a.Packages.All() {
		rows, _ := v.([]any)
		if python.Truth(a.Attr) {
			if err := addAttributes(c, out, python.Str(name), rows, a.Attr); err != nil {
				return nil, err
			}
			continue
		}
		var texts []any
		for _, row := range rows {
			of, _ := row.(*payload.Map)
			texts = append(texts, versioned{of.Value("epoch"), of.Value("version"), of.Value("release")}.text())
		}
		out.Set(name, texts)
	}
	if !python.Truth(a.Attr) && !a.AsList {
		Stringify(out)
	}
	return out, nil
}

// addAttributes adds the attributes of each version of a package, under its name without the architecture where it is
// of that.
func addAttributes(c *loader.Call, out *payload.Map, name string, rows []any, attr any) error {
	short, arch := name, any(nil)
	if c.Env.Has("pkg.parse_arch") {
		v, err := c.Call("pkg.parse_arch", []any{name}, nil)
		if err != nil {
			return err
		}
		m, _ := v.(*payload.Map)
		short, arch = m.Str("name"), m.Value("arch")
	}
	wanted := append(loader.StringList(attr), "version", "arch")
	key := name
	var all []any
	for _, row := range rows {
		of, _ := row.(*payload.Map)
		told := payload.NewMap(0)
		for _, k := range attributes {
			if v, ok := of.Get(k); ok && (attr == any("all") || slices.Contains(wanted, k)) {
				told.Set(k, v)
			}
		}
		if short != "" && told.Value("arch") == arch {
			key = short
		}
		all = append(all, told)
	}
	before, _ := out.Value(key).([]any)
	out.Set(key, append(before, all...))
	return nil
}
