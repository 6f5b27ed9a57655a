package aptpkg

import (
	"log/slog"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

type twoVersions struct {
	One         any          `arg:"pkg1"`
	Other       any          `arg:"pkg2"`
	IgnoreEpoch bool         `arg:"ignore_epoch=False"`
	KW          *payload.Map `arg:"**kwargs"`
}

func versionCmp(c *loader.Call, a twoVersions) (any, error) {
	return compare(c, a.One, a.Other, a.IgnoreEpoch), nil
}

// compare asks dpkg. What is no version has no place in the order: nil.
func compare(c *loader.Call, one, other any, ignoreEpoch bool) any {
	text := func(v any) string {
		s := python.Str(v)
		if _, rest, ok := strings.Cut(s, ":"); ok && ignoreEpoch {
			return rest
		}
		return s
	}
	if err := cmdmod.Operand(text(one), text(other)); err != nil {
		c.Log(slog.LevelError, err.Error())
		return nil
	}
	for _, order := range []struct {
		word string
		is   int64
	}{{"lt", -1}, {"eq", 0}, {"gt", 1}} {
		argv := []string{"dpkg", "--compare-versions", text(one), order.word, text(other)}
		out, err := cmdmod.RunAll(c, argv, payload.M("ignore_retcode", true))
		if err != nil {
			c.Log(slog.LevelError, err.Error())
			return nil
		}
		if out.Code == 0 {
			return order.is
		}
	}
	return nil
}

func owner(c *loader.Call, a several) (any, error) {
	if len(a.Names) == 0 {
		return "", nil
	}
	owners := payload.NewMap(0)
	for _, v := range a.Names {
		path := python.Str(v)
		if err := cmdmod.Operand(path); err != nil {
			return nil, err
		}
		out, err := cmdmod.RunAll(c, []string{"dpkg", "-S", path}, nil)
		if err != nil {
			return nil, err
		}
		who, _, _ := strings.Cut(out.Stdout, ":")
		owners.Set(path, who)
	}
	if owners.Len() == 1 {
		return owners.Value(owners.Keys()[0]), nil
	}
	return owners, nil
}

type selected struct {
	Pattern any `arg:"pattern=None"`
	State   any `arg:"state=None"`
}

func selections(c *loader.Call, a selected) (*payload.Map, error) {
	pattern := "*"
	if python.Truth(a.Pattern) {
		pattern = python.Str(a.Pattern)
	}
	if err := cmdmod.Operand(pattern); err != nil {
		return nil, err
	}
	out, err := cmdmod.RunAll(c, []string{"dpkg", "--get-selections", pattern}, nil)
	if err != nil {
		return nil, err
	}
	states := selectionsOf(out.Lines())
	if python.Truth(a.State) {
		of, _ := states.Value(a.State).([]any)
		return payload.M(a.State, append([]any{}, of...)), nil
	}
	return states, nil
}

// splitArch splits a name at its last colon.
func splitArch(name string) (short string, arch any) {
	if i := strings.LastIndex(name, ":"); i >= 0 {
		return name[:i], name[i+1:]
	}
	return name, nil
}

type named struct {
	Name string `arg:"name"`
}

func normalizeName(c *loader.Call, a named) (string, error) {
	short, arch := splitArch(a.Name)
	own, _ := c.Grain("osarch")
	if arch == nil || arch == own || arch == "all" || arch == "any" {
		return short, nil
	}
	return a.Name, nil
}

func parseArch(_ *loader.Call, a named) (*payload.Map, error) {
	short, arch := splitArch(a.Name)
	return payload.M("name", short, "arch", arch), nil
}
