package aptpkg

import (
	"log/slog"
	"maps"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

func versionCmp(c *loader.Call, a loader.Args) (any, error) {
	return compare(c, a.Get("pkg1"), a.Get("pkg2"), a.Bool("ignore_epoch")), nil
}

// compare asks dpkg. What is no version has no place in the order: nil.
func compare(c *loader.Call, one, other any, ignoreEpoch bool) any {
	text := func(v any) string {
		s := pytext.Str(v)
		if _, rest, ok := strings.Cut(s, ":"); ok && ignoreEpoch {
			return rest
		}
		return s
	}
	for _, order := range []struct {
		word string
		is   int64
	}{{"lt", -1}, {"eq", 0}, {"gt", 1}} {
		out, err := cmdmod.RunAll(c, []string{"dpkg", "--compare-versions", text(one), order.word, text(other)}, payload.M("ignore_retcode", true))
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

func owner(c *loader.Call, a loader.Args) (any, error) {
	if len(a.Rest) == 0 {
		return "", nil
	}
	owners := payload.NewMap(0)
	for _, v := range a.Rest {
		path := pytext.Str(v)
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

// files runs do with the files of every installed package of those that are named, or of all. failure is what dpkg-query
// said where it knows one of them not.
func files(c *loader.Call, a loader.Args, do func(name string, files []string)) (failure string, err error) {
	argv := []string{"dpkg-query", "-f=${db:Status-Status}\t${binary:Package}\n", "-W"}
	for _, v := range a.Rest {
		argv = append(argv, pytext.Str(v))
	}
	options := payload.M("output_loglevel", "debug")
	out, err := cmdmod.RunAll(c, argv, options)
	if err != nil {
		return "", err
	}
	if out.Code != 0 {
		failure = "Error:  " + out.Stderr
		c.Log(slog.LevelError, failure)
		return failure, nil
	}
	for _, line := range out.Lines() {
		status, name, _ := strings.Cut(line, "\t")
		if status != "installed" {
			continue
		}
		of, err := cmdmod.RunAll(c, []string{"dpkg", "-L", name}, options)
		if err != nil {
			return "", err
		}
		do(name, of.Lines())
	}
	return "", nil
}

func fileList(c *loader.Call, a loader.Args) (any, error) {
	all := map[string]bool{}
	failure, err := files(c, a, func(_ string, files []string) {
		for _, f := range files {
			all[f] = true
		}
	})
	if err != nil || failure != "" {
		return failure, err
	}
	return payload.M("errors", []any{}, "files", payload.AnyList(slices.Sorted(maps.Keys(all)))), nil
}

func fileDict(c *loader.Call, a loader.Args) (any, error) {
	all := payload.NewMap(0)
	failure, err := files(c, a, func(name string, files []string) { all.Set(name, payload.AnyList(files)) })
	if err != nil || failure != "" {
		return failure, err
	}
	return payload.M("errors", []any{}, "packages", all), nil
}

func selections(c *loader.Call, a loader.Args) (any, error) {
	pattern := "*"
	if v := a.Get("pattern"); loader.Truthy(v) {
		pattern = pytext.Str(v)
	}
	out, err := cmdmod.RunAll(c, []string{"dpkg", "--get-selections", pattern}, nil)
	if err != nil {
		return nil, err
	}
	states := payload.NewMap(0)
	for _, line := range out.Lines() {
		if cols := strings.Fields(line); len(cols) == 2 {
			of, _ := states.Value(cols[1]).([]any)
			states.Set(cols[1], append(of, cols[0]))
		}
	}
	if state := a.Get("state"); loader.Truthy(state) {
		of, _ := states.Value(state).([]any)
		return payload.M(state, append([]any{}, of...)), nil
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

func normalizeName(c *loader.Call, a loader.Args) (any, error) {
	short, arch := splitArch(a.Str("name"))
	own, _ := c.Grain("osarch")
	if arch == nil || arch == own || arch == "all" || arch == "any" {
		return short, nil
	}
	return a.Str("name"), nil
}

func parseArch(_ *loader.Call, a loader.Args) (any, error) {
	short, arch := splitArch(a.Str("name"))
	return payload.M("name", short, "arch", arch), nil
}
