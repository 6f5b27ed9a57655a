package aptpkg

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"brine/modules/execution/cmdmod"
	"brine/modules/execution/dpkg_lowpkg"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// names are the names of a call, none of them an option.
func (a several) names() ([]string, error) {
	out := make([]string, len(a.Names))
	for i, v := range a.Names {
		out[i] = python.Str(v)
	}
	return out, cmdmod.Operand(out...)
}

func listRepoPkgs(c *loader.Call, a several) (*payload.Map, error) {
	names, err := a.names()
	if err != nil {
		return nil, err
	}
	return repoPackages(c, names)
}

// repoPackages are the versions that repositories have of packages, or of all of them.
func repoPackages(c *loader.Call, names []string) (*payload.Map, error) {
	argv := append([]string{"apt-cache", "show"}, names...)
	if len(names) == 0 {
		argv[1] = "dump"
	}
	if err := cmdmod.Operand(names...); err != nil {
		return nil, err
	}
	out, err := unscoped(c, argv, payload.M("ignore_retcode", true))
	if err != nil {
		return nil, err
	}
	found, current := payload.NewMap(0), ""
	for _, line := range out.Lines() {
		if name, ok := strings.CutPrefix(line, "Package: "); ok && name != "" && name != current {
			current = name
			continue
		}
		if cols := strings.SplitN(strings.TrimSpace(line), " ", 2); len(cols) == 2 && cols[0] == "Version:" {
			of, _ := found.Value(current).([]any)
			found.Set(current, append(of, strings.TrimSpace(cols[1])))
		}
	}
	return found, nil
}

func show(c *loader.Call, a several) (*payload.Map, error) {
	kw := loader.CleanKWArgs(a.KW)
	filter := loader.StringList(kw.Value("filter"))
	wantsRefresh := python.Truth(kw.Value("refresh"))
	kw.Delete("filter")
	kw.Delete("refresh")
	if kw.Len() > 0 {
		return nil, invalidKeywords(kw)
	}
	if wantsRefresh {
		if _, err := refresh(c, nil, nil); err != nil {
			return nil, err
		}
	}
	names, err := a.names()
	if err != nil || len(names) == 0 {
		return payload.NewMap(0), err
	}
	out, err := unscoped(c, append([]string{"apt-cache", "show"}, names...), nil)
	if err != nil {
		return nil, err
	}
	for i := range filter {
		filter[i] = strings.ToLower(filter[i])
	}
	ret := payload.NewMap(0)
	for _, text := range strings.Split(out.Stdout, "\n\n") {
		addShown(ret, text, filter)
	}
	return ret, nil
}

func invalidKeywords(kw *payload.Map) error {
	var words []string
	for key, v := range kw.All() {
		words = append(words, python.Str(key)+"="+python.Str(v))
	}
	return loader.InvalidKeywords(words)
}

// addShown adds the fields of one version of a package.
func addShown(ret *payload.Map, text string, filter []string) {
	one := payload.NewMap(0)
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		low := strings.ToLower(key)
		if ok && (low == "package" || low == "version" || len(filter) == 0 || slices.Contains(filter, low)) {
			one.Set(key, value)
		}
	}
	name, version := one.Value("Package"), one.Value("Version")
	one.Delete("Package")
	one.Delete("Version")
	if name == nil || version == nil {
		return
	}
	versions, _ := ret.Value(name).(*payload.Map)
	if versions == nil {
		versions = payload.NewMap(1)
		ret.Set(name, versions)
	}
	if known, ok := versions.Value(version).(*payload.Map); ok {
		known.Update(one)
		return
	}
	versions.Set(version, one)
}

// common are the names that fields of dpkg have in all providers.
var common = map[string]string{"package": "name", "origin": "vendor", "section": "group", "maintainer": "packager",
	"homepage": "url"}

func infoInstalled(c *loader.Call, a several) (*payload.Map, error) {
	all, err := dpkg_lowpkg.Info(c, a.Names, a.KW)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(all.Len())
	for name, v := range all.All() {
		from, one := v.(*payload.Map), payload.NewMap(0)
		if status := from.Str("status"); len(status) > 1 && status[1] != 'i' {
			continue
		}
		for key, value := range from.All() {
			if to, ok := common[python.Str(key)]; ok {
				key = to
			}
			if key != any("status") {
				one.Set(key, value)
			}
		}
		out.Set(name, one)
	}
	return out, nil
}

type rooted struct {
	Root string       `arg:"root=None"`
	KW   *payload.Map `arg:"**kwargs"`
}

// listDownloaded tells of the package files in the cache of apt.
func listDownloaded(c *loader.Call, a rooted) (*payload.Map, error) {
	found := payload.NewMap(0)
	err := filepath.WalkDir(filepath.Join(a.Root, "/var/cache/apt"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".deb" {
			return nil //nolint:nilerr // what cannot be read is not told of, as in Salt
		}
		about, err := dpkg_lowpkg.BinInfo(c, path, "base")
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		made := info.ModTime()
		if sys, ok := info.Sys().(*syscall.Stat_t); ok {
			made = time.Unix(int64(sys.Ctim.Sec), 0)
		}
		name := about.Value("name")
		versions, _ := found.Value(name).(*payload.Map)
		if versions == nil {
			versions = payload.NewMap(1)
			found.Set(name, versions)
		}
		versions.Set(about.Value("version"), payload.M("path", path, "size", info.Size(),
			"creation_date_time_t", made.Unix(), "creation_date_time", made.UTC().Format("2006-01-02T15:04:05")))
		return nil
	})
	return found, err
}

func servicesNeedRestart(c *loader.Call, _ struct {
	KW *payload.Map `arg:"**kwargs"`
}) ([]any, error) {
	if program.Which("checkrestart") == "" {
		return nil, &loader.CommandNotFoundError{Message: "'checkrestart' is needed. It is part of the " +
			"'debian-goodies' package which can be installed from official repositories."}
	}
	out, err := cmdmod.RunAll(c, []string{"checkrestart", "--machine", "--package"}, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, line := range out.Lines() {
		if rest, ok := strings.CutPrefix(line, "SERVICE:"); ok {
			name, _, _ := strings.Cut(rest, ",")
			names = append(names, name)
		}
	}
	return payload.AnyList(sortedOnce(names)), nil
}

type pathArg struct {
	Path string `arg:"path"`
}

// which tells the package of a file: false where there is no such file, an empty text where it is of none.
func which(c *loader.Call, a pathArg) (any, error) {
	if _, err := os.Stat(a.Path); err != nil || !filepath.IsAbs(a.Path) {
		c.Log(slog.LevelDebug, a.Path+" does not exist, or is not absolute path")
		return false, nil
	}
	out, err := unscoped(c, []string{"dpkg", "-S", a.Path}, nil)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(out.Stdout, ":")
	return name, nil
}
