package aptpkg

import (
	"os"
	"slices"
	"strings"
	"time"

	"brine/modules/execution/cmdmod"
	"brine/modules/execution/pkg_resource"
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// listsDir is where apt keeps the lists of packages.
const listsDir = "/var/lib/apt/lists"

func latestVersion(c *loader.Call, a several) (any, error) {
	if a.KW.Has("repo") {
		return nil, loader.InvocErr("The 'repo' argument is invalid, use 'fromrepo' instead")
	}
	names := make([]string, len(a.Names))
	for i, v := range a.Names {
		names[i] = python.Str(v)
	}
	if len(names) == 0 {
		return "", nil
	}
	return latest(c, names, a.KW)
}

// latest is the version that each package could have. A text for one package, else a map.
func latest(c *loader.Call, names []string, kw *payload.Map) (any, error) {
	if err := cmdmod.Operand(names...); err != nil {
		return nil, err
	}
	there, err := list(c, true)
	if err != nil {
		return nil, err
	}
	if v, given := kw.Get("refresh"); !given || dicts.IsTrue(v) {
		if _, err := refresh(c, kw.Value("cache_valid_time"), kw); err != nil {
			return nil, err
		}
	}
	argv := append([]string{"apt-cache", "-q", "policy"}, names...)
	if from := kw.Value("fromrepo"); python.Truth(from) {
		argv = append(argv, "-o", "APT::Default-Release="+python.Str(from))
	}
	out, err := cmdmod.RunAll(c, argv, nil)
	if err != nil {
		return nil, err
	}
	found := candidates(out.Lines(), names)
	ret := payload.NewMap(len(names))
	for _, name := range names {
		ret.Set(name, "")
	}
	asked := withForeign(names, found)
	for _, name := range asked {
		candidate := found.Str(name)
		if ret.Set(name, ret.Str(name)); candidate == "" {
			continue
		}
		if dicts.IsTrue(kw.Value("show_installed")) || !newest(c, there.versions(name), candidate) {
			ret.Set(name, candidate)
		}
	}
	if len(asked) == 1 {
		return ret.Value(asked[0]), nil
	}
	return ret, nil
}

// candidates are the versions that apt-cache policy would install, by name.
func candidates(lines, names []string) *payload.Map {
	out, current := payload.NewMap(len(names)), ""
	for _, line := range lines {
		line = strings.TrimSpace(line)
		header, isHeader := strings.CutSuffix(line, ":")
		short, _, _ := strings.Cut(header, ":")
		switch cols := strings.Fields(line); {
		case isHeader && !strings.HasPrefix(line, "Version table"):
			is := func(n string) bool { of, _, _ := strings.Cut(n, ":"); return n == header || of == short }
			if slices.ContainsFunc(names, is) {
				current = header
			}
		case strings.HasPrefix(line, "Candidate"):
			candidate := ""
			if len(cols) >= 2 && !strings.EqualFold(cols[len(cols)-1], "(none)") {
				candidate = cols[len(cols)-1]
			}
			out.Set(current, candidate)
		}
	}
	return out
}

// withForeign are the names, with those of other architectures in the place of one that apt knows in no other way.
func withForeign(names []string, found *payload.Map) []string {
	var out, foreign []string
	for _, name := range names {
		if found.Has(name) {
			out = append(out, name)
			continue
		}
		for k := range found.All() {
			if s, _ := k.(string); strings.HasPrefix(s, name+":") {
				foreign = append(foreign, s)
			}
		}
	}
	return append(out, foreign...)
}

// newest tells whether one of the installed versions is at least the candidate.
func newest(c *loader.Call, installed []any, candidate string) bool {
	return slices.ContainsFunc(installed, func(v any) bool {
		order, known := compare(c, v, candidate, false).(int64)
		return known && order >= 0
	})
}

type upgradable struct {
	Name string       `arg:"name"`
	KW   *payload.Map `arg:"**kwargs"`
}

// upgradeAvailable asks for the version that can be had. Unlike Salt 3008.3: a package that nobody knows has no
// upgrade.
func upgradeAvailable(c *loader.Call, a upgradable) (bool, error) {
	v, err := latest(c, []string{a.Name}, nil)
	if text, ok := v.(string); err == nil && ok {
		return text != "", nil
	}
	return false, err
}

var upgradeLine = pattern.New(`(?m)^Conf ([^ ]+) \(([^ ]+)`)

type upgrades struct {
	Refresh any          `arg:"refresh=True"`
	Dist    bool         `arg:"dist_upgrade=True"`
	KW      *payload.Map `arg:"**kwargs"`
}

func listUpgrades(c *loader.Call, a upgrades) (*payload.Map, error) {
	if dicts.IsTrue(a.Refresh) {
		if _, err := refresh(c, a.KW.Value("cache_valid_time"), a.KW); err != nil {
			return nil, err
		}
	}
	argv := []string{"apt-get", "--just-print", "upgrade"}
	if a.Dist {
		argv[2] = "dist-upgrade"
	}
	if from, given := a.KW.Get("fromrepo"); given {
		argv = append(argv, "-o", "APT::Default-Release="+python.Str(from))
	}
	out, err := cmdmod.RunAll(c, argv, nil)
	if err != nil {
		return nil, err
	}
	if out.Code != 0 {
		why := out.Stderr
		if why == "" {
			why = out.Stdout
		}
		return nil, loader.ExecErr("%s", strings.TrimSuffix("Failed to get upgrades: "+why, ": "))
	}
	upgrades := payload.NewMap(0)
	for _, m := range upgradeLine.FindAllStringSubmatch(out.Stdout, -1) {
		upgrades.Set(m[1], m[2])
	}
	return upgrades, nil
}

type refreshed struct {
	ValidFor any          `arg:"cache_valid_time=0"`
	FailHard any          `arg:"failhard=False"`
	KW       *payload.Map `arg:"**kwargs"`
}

func refreshDB(c *loader.Call, a refreshed) (*payload.Map, error) {
	return refresh(c, a.ValidFor, a.KW.Clone().Set("failhard", a.FailHard))
}

// refreshSeconds is how long apt may take to fetch the lists (aptpkg_refresh_db_timeout of the reference).
const refreshSeconds = 30

// refresh fetches the lists of packages, unless that was done within some seconds: repository → fetched (true), not
// changed (nil), failed (false).
func refresh(c *loader.Call, validFor any, kw *payload.Map) (*payload.Map, error) {
	pkg_resource.Refreshed(c)
	seconds, ok := python.Number(validFor)
	info, err := os.Stat(listsDir)
	if ok && seconds > 0 && err == nil && time.Since(info.ModTime()).Seconds() < seconds {
		return payload.NewMap(0), nil
	}
	timeout, given := kw.Get("timeout")
	if !given {
		if timeout, given = c.Opts().Get("aptpkg_refresh_db_timeout"); !given {
			timeout = int64(refreshSeconds)
		}
	}
	update := []string{"apt-get", "-q", "update"}
	out, err := cmdmod.RunAll(c, update, payload.M("timeout", timeout))
	if err == nil && strings.Contains(out.Stdout, "Timed out") { // what was fetched in part may be what holds it up
		if _, err = cmdmod.RunAll(c, []string{"apt-get", "-q", "clean"}, nil); err == nil {
			out, err = cmdmod.RunAll(c, update, nil)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case out.Code != 0:
		return nil, loader.ExecErr("%s", out.Stderr)
	}
	all, failed := repositories(out.Lines())
	if dicts.IsTrue(kw.Value("failhard")) && len(failed) > 0 {
		return nil, loader.ExecErr("Error getting repos: %s", strings.Join(failed, ", "))
	}
	return all, nil
}

var sizeAtEnd = pattern.New(` \[.+B\]$`)

// repositories reads what apt-get update says of each.
func repositories(lines []string) (all *payload.Map, failed []string) {
	all = payload.NewMap(0)
	for _, line := range lines {
		cols := strings.Fields(line)
		if len(cols) == 0 {
			continue
		}
		what := strings.Join(cols[1:], " ")
		switch {
		case strings.Contains(cols[0], "Get"):
			all.Set(sizeAtEnd.ReplaceAllString(what, ""), true)
		case strings.Contains(cols[0], "Ign"):
			all.Set(what, false)
		case strings.Contains(cols[0], "Hit"):
			all.Set(what, nil)
		case strings.Contains(cols[0], "Err"):
			all.Set(what, false)
			failed = append(failed, what)
		}
	}
	return all, failed
}
