package aptpkg

import (
	"log/slog"
	"slices"
	"strings"

	"brine/modules/execution/dpkg_lowpkg"
	"brine/modules/execution/pkg_resource"
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

type installArgs struct {
	Name         any          `arg:"name=None"`
	Refresh      any          `arg:"refresh=False"`
	FromRepo     string       `arg:"fromrepo=None"`
	SkipVerify   bool         `arg:"skip_verify=False"`
	Debconf      any          `arg:"debconf=None"`
	Packs        any          `arg:"pkgs=None"`
	Sources      any          `arg:"sources=None"`
	Reinstall    bool         `arg:"reinstall=False"`
	DownloadOnly bool         `arg:"downloadonly=False"`
	IgnoreEpoch  bool         `arg:"ignore_epoch=False"`
	Normalize    bool         `arg:"normalize=True"`
	KW           *payload.Map `arg:"**kwargs"`
}

// wanted is one package of a call of install.
type wanted struct {
	name, path string // path: of a package file
	version    any    // text or nil
}

// order is what apt-get is told, in up to three calls.
type order struct {
	targets, downgrades []string
	again               *payload.Map // reinstalled: name → word
	errors              []string
}

func install(c *loader.Call, a installArgs) (*payload.Map, error) {
	fetch, err := a.needsRefresh(c)
	if err != nil {
		return nil, err
	}
	if python.Truth(a.Debconf) {
		if _, err := c.Call("debconf.set_file", []any{a.Debconf}, nil); err != nil {
			return nil, err
		}
	}
	split, given := a.KW.Get("split_arch")
	targets, err := pkg_resource.Parse(c, pkg_resource.Wanted{Name: a.Name, Packs: a.Packs, Sources: a.Sources,
		Saltenv: saltenvOf(a.KW), Plain: !a.Normalize || given && !python.Truth(split), KW: a.KW})
	if err != nil {
		return nil, asExecution(err)
	}
	if a.FromRepo == "" {
		a.FromRepo = a.KW.Str("repo")
	}
	if targets.Packages.Len() == 0 && len(targets.Files) == 0 {
		return payload.NewMap(0), nil
	}
	old, err := list(c, true)
	if err != nil {
		return nil, err
	}
	o, err := a.plan(c, targets, old.texts(false))
	if err != nil {
		return nil, err
	}
	return a.carryOut(c, o, targets, old.texts(false), fetch)
}

func saltenvOf(kw *payload.Map) string {
	if v := kw.Value("saltenv"); python.Truth(v) {
		return python.Str(v)
	}
	return "base"
}

// asExecution makes the error of a file that could not be fetched that of a command.
func asExecution(err error) error {
	if loader.ClassOf(err) == "salt.exceptions.MinionError" {
		return loader.ExecErr("%s", loader.Message(err))
	}
	return err
}

// needsRefresh tells whether the lists are to be fetched: not where each version that is wanted is the newest known.
func (a installArgs) needsRefresh(c *loader.Call) (bool, error) {
	if !dicts.IsTrue(a.Refresh) {
		return false, nil
	}
	known := func(name string, version any) (bool, error) {
		v, err := latest(c, []string{name}, payload.M("refresh", false, "show_installed", true))
		return v == version, err
	}
	fetch := true
	if version := a.KW.Value("version"); python.Truth(version) {
		same, err := known(loader.Text(a.Name), version)
		if err != nil {
			return false, err
		}
		fetch = !same
	}
	list, ok := a.Packs.([]any)
	if !ok || len(list) == 0 {
		return fetch, nil
	}
	fetch = false
	for _, item := range list {
		m, isMap := item.(*payload.Map)
		if !isMap || m.Len() == 0 {
			fetch = true
			continue
		}
		name := m.Keys()[0]
		same, err := known(python.Str(name), m.Value(name))
		if err != nil {
			return false, err
		}
		fetch = fetch || !same
	}
	return fetch, nil
}

// prefix is the beginning of each call of apt-get.
func (a installArgs) prefix(kind string) []string {
	argv := []string{"apt-get", "-q", "-y"}
	if python.Truth(a.KW.Value("force_yes")) {
		argv = append(argv, "--force-yes")
	}
	argv = append(argv, keepConf(a.KW)...)
	if v, given := a.KW.Get("install_recommends"); given && python.Truth(v) {
		argv = append(argv, "--install-recommends")
	} else if given {
		argv = append(argv, "--no-install-recommends")
	}
	if python.Truth(a.KW.Value("only_upgrade")) {
		argv = append(argv, "--only-upgrade")
	}
	if a.SkipVerify {
		argv = append(argv, "--allow-unauthenticated")
	}
	if a.FromRepo != "" && kind == "repository" {
		argv = append(argv, "-t", a.FromRepo)
	}
	return append(argv, "install")
}

// keepConf are the options by which dpkg decides on configuration files.
func keepConf(kw *payload.Map) []string {
	if python.Truth(kw.Value("force_conf_new")) {
		return []string{"-o", "DPkg::Options::=--force-confnew"}
	}
	return []string{"-o", "DPkg::Options::=--force-confold", "-o", "DPkg::Options::=--force-confdef"}
}

// packages are those of the call, one by one.
func (a installArgs) packages(c *loader.Call, t pkg_resource.Targets) (out []wanted, err error) {
	for _, path := range t.Files {
		found, err := dpkg_lowpkg.BinInfo(c, path, "base")
		if err != nil {
			return nil, err
		}
		out = append(out, wanted{found.Str("name"), path, found.Value("version")})
	}
	for name, version := range t.Packages.All() {
		own := a.KW.Value("version")
		if python.Truth(a.Name) && a.Packs == nil && python.Truth(own) && t.Packages.Len() == 1 {
			version = python.Str(own)
		}
		w := wanted{name: python.Str(name), version: version}
		if err := namesOnly(w.name); err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// plan sorts packages into those that are installed or upgraded, go back to an older version, or are installed again.
func (a installArgs) plan(c *loader.Call, t pkg_resource.Targets, old *payload.Map) (*order, error) {
	o := &order{again: payload.NewMap(0)}
	all, err := a.packages(c, t)
	if err != nil {
		return nil, err
	}
	var open []string
	for _, w := range all {
		if v, _ := w.version.(string); w.path == "" && (strings.HasPrefix(v, "<") || strings.HasPrefix(v, ">")) {
			open = append(open, w.name)
		}
	}
	offered := payload.NewMap(0)
	if len(open) > 0 {
		if offered, err = repoPackages(c, open); err != nil {
			return nil, err
		}
	}
	for _, w := range all {
		if slices.Contains(open, w.name) && !w.choose(c, o, offered, a.IgnoreEpoch) {
			continue
		}
		a.add(c, o, w, old.Str(w.name))
	}
	return o, nil
}

var oneCondition = pattern.New(`^(<=>|!=|>=|<=|>>|<<|<>|>|<|=)?\s?([^<>=]+)$`)

// choose takes the first version that is offered and meets a condition.
func (w *wanted) choose(c *loader.Call, o *order, offered *payload.Map, ignoreEpoch bool) bool {
	condition := strings.TrimLeft(python.Str(w.version), "=")
	oper, version := "==", condition
	if m := oneCondition.FindStringSubmatch(condition); m != nil && m[1] != "" {
		oper, version = m[1], m[2]
	}
	candidates, _ := offered.Value(w.name).([]any)
	for _, v := range candidates {
		if n, known := compare(c, v, version, ignoreEpoch).(int64); known && pkg_resource.Holds(int(n), oper) {
			w.version = v
			return true
		}
	}
	told := "None"
	if len(candidates) > 0 {
		told = strings.Join(payload.Texts(candidates), ", ")
	}
	o.errors = append(o.errors, "No version matching '"+w.name+condition+"' could be found (available: "+told+")")
	return false
}

// add puts a package where it belongs.
func (a installArgs) add(c *loader.Call, o *order, w wanted, installed string) {
	word := w.path
	if w.version == nil {
		if a.Reinstall && installed != "" {
			o.again.Set(w.name, w.name)
		} else {
			o.targets = append(o.targets, w.name)
		}
		return
	}
	version := python.Str(w.version)
	if word == "" {
		version = strings.TrimLeft(version, "=")
		word = w.name + "=" + version
	}
	n, known := int64(0), false
	if installed != "" {
		n, known = compare(c, version, installed, false).(int64)
	}
	switch {
	case a.Reinstall && installed != "" && known && n == 0:
		o.again.Set(w.name, word)
	case installed == "" || known && n >= 0:
		o.targets = append(o.targets, word)
	default:
		o.downgrades = append(o.downgrades, word)
	}
}

// commands are the calls of apt-get.
func (a installArgs) commands(o *order, kind string) (out [][]string) {
	if len(o.targets) > 0 {
		out = append(out, append(a.prefix(kind), o.targets...))
	}
	if len(o.downgrades) > 0 {
		argv := a.prefix(kind)
		if kind == "repository" && !slices.Contains(argv, "--force-yes") {
			argv = slices.Insert(argv, len(argv)-1, "--force-yes")
		}
		out = append(out, append(argv, o.downgrades...))
	}
	if a.DownloadOnly && len(out) > 0 {
		last := len(out) - 1
		out[last] = append(out[last], "--download-only")
	}
	if o.again.Len() > 0 {
		argv := a.prefix(kind)
		if !python.Truth(a.Sources) {
			argv = append(argv, "--reinstall")
		}
		for _, word := range o.again.All() {
			argv = append(argv, python.Str(word))
		}
		if a.DownloadOnly && len(out) == 0 { // unlike Salt, which downloads nothing then, but installs
			argv = append(argv, "--download-only")
		}
		out = append(out, argv)
	}
	return out
}

// carryOut runs apt-get. Packages on hold that are wanted are held again afterwards.
func (a installArgs) carryOut(c *loader.Call, o *order, t pkg_resource.Targets, old *payload.Map, fetch bool,
) (*payload.Map, error) {
	changes := payload.NewMap(0)
	if commands := a.commands(o, t.Kind); len(commands) > 0 {
		if fetch {
			if _, err := refresh(c, a.KW.Value("cache_valid_time"), nil); err != nil {
				return nil, err
			}
		}
		held, err := heldOf(c, o)
		if err != nil {
			return nil, err
		}
		if len(held) > 0 {
			if err := setAll(c, held, "install"); err != nil {
				return nil, err
			}
		}
		for _, argv := range commands {
			out, err := apt(c, argv, ofCommand(a.KW))
			if err != nil {
				return nil, err
			}
			if out.Code != 0 && out.Stderr != "" {
				o.errors = append(o.errors, out.Stderr)
			}
		}
		if changes, err = a.changed(c, o, old); err != nil {
			return nil, err
		}
		if len(held) > 0 {
			if err := setAll(c, held, "hold"); err != nil {
				return nil, err
			}
		}
	}
	if len(o.errors) > 0 {
		return nil, pkg_resource.Failure("Problem encountered installing package(s)",
			payload.M("errors", payload.AnyList(o.errors), "changes", changes))
	}
	return changes, nil
}

// changed tells what is other than before.
func (a installArgs) changed(c *loader.Call, o *order, old *payload.Map) (*payload.Map, error) {
	k, err := list(c, false)
	if err != nil {
		return nil, err
	}
	now := k.texts(false)
	changes := pkg_resource.Compare(old, now)
	for name := range o.again.All() {
		changes.Set(name, payload.M("old", textAt(old, name), "new", textAt(now, name)))
	}
	return changes, nil
}

func textAt(m *payload.Map, key any) any {
	if v, ok := m.Get(key); ok {
		return v
	}
	return ""
}

// heldOf are the packages of an order that are on hold.
func heldOf(c *loader.Call, o *order) ([]string, error) {
	selected, err := selections(c, selected{State: "hold"})
	if err != nil {
		return nil, err
	}
	targeted := slices.Clone(o.targets)
	targeted = append(targeted, payload.Texts(o.again.Keys())...)
	for i, word := range targeted {
		targeted[i], _, _ = strings.Cut(word, "=")
	}
	var held []string
	for _, name := range payload.Texts(selected.List("hold")) {
		if slices.Contains(targeted, name) {
			held = append(held, name)
		}
	}
	return held, nil
}

// setAll selects packages for something, and logs those that could not be.
func setAll(c *loader.Call, names []string, what string) error {
	done, err := setSelections(c, payload.M(what, payload.AnyList(names)), false)
	if err == nil && done.Len() < len(names) {
		c.Log(slog.LevelWarn, "not all packages were selected for "+what)
	}
	return err
}
