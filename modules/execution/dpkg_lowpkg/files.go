package dpkg_lowpkg

import (
	"log/slog"
	"maps"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// files runs do with the files of every installed package of those that are named, or of all. failure is what
// dpkg-query said where it knows one of them not.
func files(c *loader.Call, a Several, do func(name string, files []string)) (failure string, err error) {
	argv := []string{"dpkg-query", "-f=${db:Status-Status}\t${binary:Package}\n", "-W"}
	for _, v := range a.Names {
		if err := cmdmod.Operand(python.Str(v)); err != nil {
			return "", err
		}
		argv = append(argv, python.Str(v))
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

// FileList lists the files of packages (pkg.file_list, lowpkg.file_list).
func FileList(c *loader.Call, a Several) (any, error) {
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

// FileDict lists the files of packages, package by package (pkg.file_dict, lowpkg.file_dict).
func FileDict(c *loader.Call, a Several) (any, error) {
	all := payload.NewMap(0)
	failure, err := files(c, a, func(name string, files []string) { all.Set(name, payload.AnyList(files)) })
	if err != nil || failure != "" {
		return failure, err
	}
	return payload.M("errors", []any{}, "packages", all), nil
}
