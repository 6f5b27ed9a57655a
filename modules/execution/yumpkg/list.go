package yumpkg

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/modules/execution/cmdmod"
	"brine/modules/execution/pkg_resource"
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// booted tells whether systemd runs this machine.
func booted() bool {
	_, err := os.Stat("/run/systemd/system")
	return err == nil
}

const queryFormat = "%{NAME}_|-%{EPOCH}_|-%{VERSION}_|-%{RELEASE}_|-%{ARCH}_|-(none)_|-%{INSTALLTIME}\n"

// installed are the packages that rpm knows: name → attributes of each version.
func installed(c *loader.Call) (*payload.Map, error) {
	text, err := cmdmod.Run(c, []string{"rpm", "-qa", "--nodigest", "--nosignature", "--queryformat", queryFormat}, nil)
	if err != nil {
		return nil, err
	}
	all, own := payload.NewMap(0), ownArch(c)
	for line := range strings.Lines(text) {
		cols := strings.Split(strings.TrimRight(line, "\r\n"), "_|-")
		if len(cols) != 7 {
			continue
		}
		row := payload.M("epoch", nil, "version", cols[2], "release", nil, "arch", cols[4], "install_date", nil,
			"install_date_time_t", nil)
		if cols[1] != "(none)" && cols[1] != "0" {
			row.Set("epoch", cols[1])
		}
		version, release, has := strings.Cut(cols[2]+"-"+cols[3], "-")
		if has && cols[3] != "" {
			row.Set("version", version).Set("release", release)
		}
		if at, err := strconv.ParseInt(cols[6], 10, 64); err == nil && at != 0 {
			when := time.Unix(at, 0).UTC().Format("2006-01-02T15:04:05+00:00Z") // as Salt writes it
			row.Set("install_date", when).Set("install_date_time_t", at)
		}
		name := resolve(cols[0], cols[4], own)
		rows, _ := all.Value(name).([]any)
		all.Set(name, append(rows, row))
	}
	for _, v := range all.All() {
		slices.SortStableFunc(v.([]any), func(a, b any) int {
			return strings.Compare(a.(*payload.Map).Str("version"), b.(*payload.Map).Str("version"))
		})
	}
	return all, nil
}

type listed struct {
	AsList any          `arg:"versions_as_list=False"`
	KW     *payload.Map `arg:"**kwargs"`
}

// listPkgs lists what is installed. Unlike Salt: each time as rpm knows it then.
func listPkgs(c *loader.Call, a listed) (any, error) {
	if dicts.IsTrue(a.KW.Value("removed")) || dicts.IsTrue(a.KW.Value("purge_desired")) {
		return payload.NewMap(0), nil
	}
	return list(c, dicts.IsTrue(a.AsList), a.KW.Value("attr"))
}

func list(c *loader.Call, asList bool, attr any) (*payload.Map, error) {
	all, err := installed(c)
	if err != nil {
		return nil, err
	}
	v, err := c.Call("pkg_resource.format_pkg_list", []any{all, asList, attr}, nil)
	m, _ := v.(*payload.Map)
	return m, err
}

func version(c *loader.Call, a several) (any, error) {
	return c.Call("pkg_resource.version", a.Names, a.KW)
}

// offered is a package that a repository has.
type offered struct{ name, arch, version, repo string }

// headers are the lines that are no packages.
var headers = []string{"installed packages", "available packages", "available upgrades", "updated packages",
	"upgraded packages"}

// offers reads a list of packages: name, version and repository, in any number of columns.
func offers(c *loader.Call, text string) (out []offered) {
	var words []string
	for line := range strings.Lines(text) {
		if !slices.Contains(headers, strings.ToLower(strings.TrimRight(line, "\n"))) {
			words = append(words, strings.Fields(line)...)
		}
	}
	own := ownArch(c)
	for ; len(words) >= 3; words = words[3:] {
		o := offered{name: words[0], arch: own, version: strings.TrimRight(words[1], "-"),
			repo: strings.TrimLeft(words[2], "@")}
		if i := strings.LastIndex(o.name, "."); i >= 0 {
			o.name, o.arch = o.name[:i], o.name[i+1:]
		}
		o.name = resolve(o.name, o.arch, own)
		out = append(out, o)
	}
	return out
}

func (a several) names() ([]string, error) {
	out := make([]string, len(a.Names))
	for i, v := range a.Names {
		out[i] = python.Str(v)
	}
	return out, cmdmod.Operand(out...)
}

func latestVersion(c *loader.Call, a several) (any, error) {
	names, err := a.names()
	if err != nil || len(names) == 0 {
		return "", err
	}
	kw := a.KW.Clone()
	if v, given := kw.Get("refresh"); !given || dicts.IsTrue(v) {
		if _, err := refresh(c, kw); err != nil {
			return nil, err
		}
	}
	kw.Delete("refresh")
	there, err := list(c, true, nil)
	if err != nil {
		return nil, err
	}
	argv := slices.Concat([]string{"--quiet"}, options(kw, false), []string{"list", "available"}, names)
	out, err := call(c, argv, payload.M("ignore_retcode", true))
	if err != nil {
		return nil, err
	}
	var all []offered
	if out.Code == 0 {
		all = offers(c, out.Stdout)
		slices.SortStableFunc(all, func(x, y offered) int { return compare(y.version, x.version, false) })
	}
	ret := payload.NewMap(len(names))
	for _, name := range names {
		ret.Set(name, newer(c, all, there, name))
	}
	if len(names) == 1 {
		return ret.Value(names[0]), nil
	}
	return ret, nil
}

// newer is the newest version of a package that is offered and newer than all that are installed.
func newer(c *loader.Call, all []offered, there *payload.Map, name string) string {
	own := ownArch(c)
	if _, arch := splitArch(name); isArch(arch) {
		own = arch
	}
	for _, o := range all {
		if o.name != name || o.arch != "noarch" && o.arch != own && !(is32(o.arch) && is32(ownArch(c))) {
			continue
		}
		versions, _ := there.Value(name).([]any)
		old := func(v any) bool { return compare(python.Str(v), o.version, false) >= 0 }
		if !slices.ContainsFunc(versions, old) {
			return o.version
		}
	}
	return ""
}

type upgradable struct {
	Name string       `arg:"name"`
	KW   *payload.Map `arg:"**kwargs"`
}

func upgradeAvailable(c *loader.Call, a upgradable) (bool, error) {
	v, err := latestVersion(c, several{Names: []any{a.Name}, KW: a.KW})
	return v != any(""), err
}

type upgrades struct {
	Refresh any          `arg:"refresh=True"`
	KW      *payload.Map `arg:"**kwargs"`
}

func listUpgrades(c *loader.Call, a upgrades) (*payload.Map, error) {
	if dicts.IsTrue(a.Refresh) {
		if _, err := refresh(c, a.KW.Clone().Set("check_update", false)); err != nil {
			return nil, err
		}
	}
	word := "updates"
	if isDNF() {
		word = "--upgrades"
	}
	out, err := call(c, slices.Concat([]string{"--quiet"}, options(a.KW, false), []string{"list", word}),
		payload.M("ignore_retcode", true))
	if err != nil {
		return nil, err
	}
	found := payload.NewMap(0)
	for _, o := range offers(c, out.Stdout) {
		found.Set(o.name, o.version)
	}
	return found, nil
}

type keywords struct {
	KW *payload.Map `arg:"**kwargs"`
}

func refreshDB(c *loader.Call, a keywords) (any, error) { return refresh(c, a.KW) }

// refresh fetches the lists: true where there are upgrades, nil where there are none, false where it failed.
func refresh(c *loader.Call, kw *payload.Map) (any, error) {
	pkg_resource.Refreshed(c)
	opts, quietly := options(kw, false), payload.M("ignore_retcode", true)
	clean := append([]string{"--quiet", "--assumeyes", "clean", "expire-cache"}, opts...)
	if _, err := call(c, clean, quietly); err != nil {
		return nil, err
	}
	if v, given := kw.Get("check_update"); given && !python.Truth(v) {
		return true, nil
	}
	argv := []string{"--quiet", "--assumeyes", "check-update"}
	family, _ := c.Grain("os_family")
	if major, _ := c.Grain("osmajorrelease"); family == "RedHat" && major == any(int64(7)) {
		argv = append(argv, "--setopt=autocheck_running_kernel=false")
	}
	out, err := call(c, append(argv, opts...), quietly)
	switch {
	case err != nil:
		return nil, err
	case out.Code == 100:
		return true, nil
	case out.Code == 0:
		return nil, nil
	}
	return false, nil
}

func listRepoPkgs(c *loader.Call, a several) (*payload.Map, error) {
	names, err := a.names()
	if err != nil {
		return nil, err
	}
	return repoPackages(c, names, a.KW)
}

// repoPackages are the versions that enabled repositories have of packages, newest first; by repository if wanted.
func repoPackages(c *loader.Call, names []string, kw *payload.Map) (*payload.Map, error) {
	repos, err := repoNames(c, kw)
	if err != nil {
		return nil, err
	}
	found := payload.NewMap(0)
	for _, repo := range repos {
		argv := []string{"--quiet", "--showduplicates", "repository-packages", repo, "list"}
		if manager() == "tdnf" {
			argv = []string{"--quiet", "--enablerepo=" + repo, "list"}
		}
		if python.Truth(kw.Value("cacheonly")) {
			argv = append(argv, "-C")
		}
		out, err := call(c, append(argv, names...), payload.M("ignore_retcode", true))
		if err != nil {
			return nil, err
		}
		if out.Code != 0 && strings.Contains(out.Stdout, "Error:") {
			continue
		}
		for _, o := range offers(c, out.Stdout) {
			into := found
			if python.Truth(kw.Value("byrepo")) {
				if into, _ = found.Value(o.repo).(*payload.Map); into == nil {
					into = payload.NewMap(0)
					found.Set(o.repo, into)
				}
			}
			versions, _ := into.Value(o.name).([]any)
			if !slices.Contains(versions, any(o.version)) {
				versions = append(versions, o.version)
			}
			slices.SortStableFunc(versions, func(x, y any) int { return compare(y.(string), x.(string), false) })
			into.Set(o.name, versions)
		}
	}
	return found, nil
}

// repoNames are the repositories that a call chooses, or those that are enabled.
func repoNames(c *loader.Call, kw *payload.Map) (out []string, err error) {
	list := func(key string) []string {
		words := loader.StringList(kw.Value(key))
		return slices.DeleteFunc(words, func(w string) bool { return w == "*" || w == "" })
	}
	if from := list("fromrepo"); len(from) > 0 {
		return from, cmdmod.Operand(from...)
	}
	all, err := repoTable(c, nil)
	if err != nil {
		return nil, err
	}
	on, off := list("enablerepo"), list("disablerepo")
	for v, about := range all.All() {
		name, enabled := python.Str(v), "1"
		if text, given := about.(*payload.Map).Get("enabled"); given {
			enabled = python.Str(text)
		}
		if slices.Contains(on, name) || !slices.Contains(off, name) && enabled == "1" {
			out = append(out, name)
		}
	}
	return out, nil
}

// matchGlob is the newest of versions that a glob names.
func matchGlob(versions []any, glob string) (string, bool) {
	for _, v := range versions {
		if fnmatch.Match(glob, python.Str(v)) {
			return python.Str(v), true
		}
	}
	return "", false
}
