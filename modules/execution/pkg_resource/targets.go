package pkg_resource

import (
	"log/slog"
	"path/filepath"
	"strings"

	"brine/config/yaml"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Targets are what a call of a provider is about.
type Targets struct {
	Kind     string       // "repository", "file", "advisory"; "" when the call names nothing that can be understood
	Packages *payload.Map // of a repository: name → version (text) or nil
	Files    []string     // of the kinds file and advisory
}

// Wanted are the arguments by which a call names packages.
type Wanted struct {
	Name    any
	Packs   any // pkgs: a list of names and of one-key maps, or YAML of it
	Sources any // a list of one-key maps
	Saltenv string
	Plain   bool // names are taken as they are (normalize=False)
	KW      *payload.Map
}

// Parse reads what a call names.
func Parse(c *loader.Call, w Wanted) (Targets, error) {
	version := w.KW.Value("version")
	advisories, byAdvisory := w.KW.Get("advisory_ids")
	switch {
	case python.Truth(w.Packs) && python.Truth(w.Sources):
		c.Log(slog.LevelError, `Only one of "pkgs" and "sources" can be used.`)
	case byAdvisory && python.Truth(w.Packs):
		c.Log(slog.LevelError, `Cannot use "advisory_ids" and "pkgs" at the same time`)
	case byAdvisory && python.Truth(advisories):
		return Targets{Kind: "advisory", Files: loader.StringList(advisories)}, nil
	case byAdvisory:
		return Targets{Kind: "advisory", Files: []string{loader.Text(w.Name)}}, nil
	case python.Truth(w.Packs):
		ignored(c, version)
		packed, err := Repack(c, w.Packs, !w.Plain)
		if err != nil || packed.Len() == 0 {
			return Targets{}, err
		}
		return Targets{Kind: "repository", Packages: packed}, nil
	case python.Truth(w.Sources):
		ignored(c, version)
		return ofSources(c, w)
	case python.Truth(w.Name):
		normal, packed := normalizer(c, !w.Plain), payload.NewMap(1)
		for _, name := range strings.Split(python.Str(w.Name), ",") {
			name, err := normal(name)
			if err != nil {
				return Targets{}, err
			}
			packed.Set(name, version)
		}
		return Targets{Kind: "repository", Packages: packed}, nil
	default:
		c.Log(slog.LevelError, "No package sources provided")
	}
	return Targets{}, nil
}

func ignored(c *loader.Call, version any) {
	if version != nil {
		c.Log(slog.LevelWarn, "'version' argument will be ignored for multiple package targets")
	}
}

// ofSources brings the files of sources to this machine.
func ofSources(c *loader.Call, w Wanted) (Targets, error) {
	sources, err := PackSources(c, w.Sources, !w.Plain)
	if err != nil || sources.Len() == 0 {
		return Targets{}, err
	}
	out := Targets{Kind: "file"}
	for name, v := range sources.All() {
		path := python.Str(v)
		remote, err := c.Call("config.valid_fileproto", []any{path}, nil)
		if err != nil {
			return Targets{}, err
		}
		if !python.Truth(remote) {
			if !filepath.IsAbs(path) {
				return Targets{}, loader.InvocErr(
					"Path %s for package %s is either not absolute or an invalid protocol", path, python.Str(name))
			}
			out.Files = append(out.Files, path)
			continue
		}
		cached, err := c.Call("cp.cache_file", []any{path, w.Saltenv}, nil)
		if err != nil {
			return Targets{}, err
		}
		if !python.Truth(cached) {
			return Targets{}, loader.ExecErr("Unable to cache source %s for package %s", path, python.Str(name))
		}
		out.Files = append(out.Files, python.Str(cached))
	}
	return out, nil
}

// normalizer is how the provider writes the name of a package.
func normalizer(c *loader.Call, wanted bool) func(string) (string, error) {
	const by = "pkg.normalize_name"
	if !wanted || !c.Env.Has(by) {
		return func(name string) (string, error) { return name, nil }
	}
	return func(name string) (string, error) {
		v, err := c.Call(by, []any{name}, nil)
		return loader.Text(v), err
	}
}

// Repack turns pkgs into a map of names and versions (text), nil for any version.
func Repack(c *loader.Call, pkgs any, normalize bool) (*payload.Map, error) {
	packed, count := repackList(c, pkgs)
	out, normal := payload.NewMap(packed.Len()), normalizer(c, normalize)
	for key, v := range packed.All() {
		name, err := normal(python.Str(key))
		if err != nil {
			return nil, err
		}
		if v != nil {
			v = python.Str(v)
		}
		out.Set(name, v)
	}
	if count != out.Len() {
		return nil, loader.InvocErr("You are passing a list of packages that contains duplicated packages names: %s. "+
			"This cannot be processed. In case you are targeting different versions of the same package, please "+
			"target them individually", python.StrOrdered(pkgs))
	}
	return out, nil
}

// repackList makes one map of a list of one-key maps and names, and tells how many items there are; of a text, as in
// Salt, how many letters. A list that has anything else gives an empty map.
func repackList(c *loader.Call, v any) (out *payload.Map, count int) {
	out = payload.NewMap(0)
	if text, ok := v.(string); ok {
		count = len([]rune(text))
		loaded, err := yaml.Load([]byte(text))
		if err != nil {
			c.Log(slog.LevelError, err.Error())
			return out, count
		}
		v = loaded
	}
	list, ok := v.([]any)
	if m, isMap := v.(*payload.Map); isMap {
		count = m.Len()
	}
	if count == 0 {
		count = len(list)
	}
	if !ok {
		c.Log(slog.LevelError, "Invalid input for repack_dictlist, data passed is not a list ("+python.Str(v)+")")
		return out, count
	}
	for _, item := range list {
		switch x := item.(type) {
		case string, bool, int64, uint64, float64:
			out.Set(x, nil)
		case *payload.Map:
			if x.Len() != 1 {
				c.Log(slog.LevelError, "Invalid input for repack_dictlist: key/value pairs must contain only one "+
					"element (data passed: "+python.Str(x)+").")
				return payload.NewMap(0), count
			}
			for key, of := range x.All() {
				out.Set(key, of)
			}
		default:
			c.Log(slog.LevelError, "Invalid input for repack_dictlist: element "+python.Str(x)+
				" is not a string/dict/numeric value")
			return payload.NewMap(0), count
		}
	}
	return out, count
}

// PackSources turns sources into one map of names and files; an empty one where they are none.
func PackSources(c *loader.Call, sources any, normalize bool) (*payload.Map, error) {
	if text, ok := sources.(string); ok {
		loaded, err := yaml.Load([]byte(text))
		if err != nil {
			c.Log(slog.LevelError, err.Error())
			return payload.NewMap(0), nil
		}
		sources = loaded
	}
	list, _ := sources.([]any)
	out, normal := payload.NewMap(len(list)), normalizer(c, normalize)
	for _, item := range list {
		m, ok := item.(*payload.Map)
		if !ok || m.Len() != 1 {
			c.Log(slog.LevelError, "Input must be a list of 1-element dicts")
			return payload.NewMap(0), nil
		}
		for key, path := range m.All() {
			name, err := normal(python.Str(key))
			if err != nil {
				return nil, err
			}
			out.Set(name, path)
		}
	}
	return out, nil
}

type sourcesArg struct {
	Sources   any  `arg:"sources"`
	Normalize bool `arg:"normalize=True"`
}

func packSources(c *loader.Call, a sourcesArg) (*payload.Map, error) {
	return PackSources(c, a.Sources, a.Normalize)
}

type targetsArg struct {
	Name      any          `arg:"name=None"`
	Packs     any          `arg:"pkgs=None"`
	Sources   any          `arg:"sources=None"`
	Saltenv   string       `arg:"saltenv=base"`
	Normalize bool         `arg:"normalize=True"`
	KW        *payload.Map `arg:"**kwargs"`
}

func parseTargets(c *loader.Call, a targetsArg) ([]any, error) {
	t, err := Parse(c, Wanted{a.Name, a.Packs, a.Sources, a.Saltenv, !a.Normalize, a.KW})
	switch {
	case err != nil:
		return nil, err
	case t.Kind == "":
		return []any{nil, nil}, nil
	case t.Packages != nil:
		return []any{t.Packages, t.Kind}, nil
	}
	return []any{payload.AnyList(t.Files), t.Kind}, nil
}
