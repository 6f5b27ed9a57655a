package yumpkg

import (
	"log/slog"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/execution/pkg_resource"
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

type installArgs struct {
	Name         any          `arg:"name=None"`
	Refresh      any          `arg:"refresh=False"`
	SkipVerify   bool         `arg:"skip_verify=False"`
	Packs        any          `arg:"pkgs=None"`
	Sources      any          `arg:"sources=None"`
	DownloadOnly bool         `arg:"downloadonly=False"`
	Reinstall    bool         `arg:"reinstall=False"`
	Normalize    bool         `arg:"normalize=True"`
	UpdateHolds  bool         `arg:"update_holds=False"`
	Saltenv      string       `arg:"saltenv=base"`
	IgnoreEpoch  any          `arg:"ignore_epoch=False"`
	KW           *payload.Map `arg:"**kwargs"`
}

// word is a package and what the program is told to install it.
type word struct{ name, text string }

// order is what the program is told, in up to three calls.
type order struct {
	*loader.Call
	installArgs
	split                      bool // an architecture in a name is one
	install, downgrade, again  []word
	prevented, errors, options []string
}

// namesOnly refuses words that would be taken for options or several words.
func namesOnly(names ...string) error {
	for _, name := range names {
		if name == "" || strings.ContainsFunc(name, python.IsSpace) {
			return loader.ExecErr("%s is no name of a package", python.Repr(name))
		}
	}
	return cmdmod.Operand(names...)
}

func install(c *loader.Call, a installArgs) (*payload.Map, error) {
	if a.KW.Value("advisory_ids") != nil {
		return nil, loader.ExecErr("advisory_ids is not in brine yet")
	}
	o := &order{Call: c, installArgs: a, split: flag(a.KW, "split_arch"), options: options(a.KW, false)}
	if dicts.IsTrue(a.Refresh) {
		if _, err := refresh(c, a.KW); err != nil {
			return nil, err
		}
	}
	t, err := pkg_resource.Parse(c, pkg_resource.Wanted{Name: a.Name, Packs: a.Packs, Sources: a.Sources,
		Saltenv: a.Saltenv, Plain: !a.Normalize || !o.split, KW: a.KW})
	if err != nil {
		return nil, err
	}
	if t.Packages.Len() == 0 && len(t.Files) == 0 {
		return payload.NewMap(0), nil
	}
	old, err := list(c, false, a.KW.Value("diff_attr"))
	if err != nil {
		return nil, err
	}
	if err := o.plan(t); err != nil {
		return nil, err
	}
	if err := o.carryOut(); err != nil {
		return nil, err
	}
	return o.changed(old)
}

func flag(kw *payload.Map, key string) bool {
	v, given := kw.Get(key)
	return !given || python.Truth(v)
}

// plan sorts packages into those that are installed or upgraded, go back to an older version, or are installed again.
func (o *order) plan(t pkg_resource.Targets) error {
	for _, path := range t.Files {
		o.install = append(o.install, word{"", path})
	}
	if t.Packages.Len() == 0 {
		return nil
	}
	var open []string
	for name, v := range t.Packages.All() {
		if err := namesOnly(python.Str(name)); err != nil {
			return err
		}
		version, _ := v.(string)
		if strings.Contains(version, "*") || strings.HasPrefix(version, "<") || strings.HasPrefix(version, ">") {
			open = append(open, python.Str(name))
		}
	}
	there, err := list(o.Call, true, nil)
	if err != nil {
		return err
	}
	offered := payload.NewMap(0)
	if len(open) > 0 {
		if offered, err = repoPackages(o.Call, open, o.KW); err != nil {
			return err
		}
	}
	for name, v := range t.Packages.All() {
		o.add(python.Str(name), v, there, offered)
	}
	return nil
}

var oneCondition = pattern.New(`^(<=>|!=|>=|<=|>>|<<|<>|>|<|=)?\s?([^<>=]+)$`)

// choose finds a version that is offered; it tells where there is none.
func (o *order) choose(name, version string, offered *payload.Map) (string, bool) {
	candidates, _ := offered.Value(name).([]any)
	told := strings.Join(payload.Texts(candidates), ", ")
	if m := oneCondition.FindStringSubmatch(version); strings.ContainsAny(version[:1], "<>") && m != nil {
		for _, v := range candidates {
			if pkg_resource.Holds(compare(python.Str(v), m[2], python.Truth(o.IgnoreEpoch)), m[1]) {
				return python.Str(v), true
			}
		}
		if told == "" {
			told = "None"
		}
		o.errors = append(o.errors, "No version matching '"+name+version+"' could be found (available: "+told+")")
		return "", false
	}
	if v, ok := matchGlob(candidates, version); ok {
		return v, true
	}
	if told == "" {
		told = "none"
	}
	o.errors = append(o.errors,
		"No version matching '"+version+"' found for package '"+name+"' (available: "+told+")")
	return "", false
}

var kernel = pattern.New(`^kernel(|-devel)$`)

// add puts a package where it belongs.
func (o *order) add(name string, v any, there, offered *payload.Map) {
	versions := payload.Texts(there.List(name))
	if v == nil {
		if o.Reinstall && len(versions) > 0 {
			o.again = append(o.again, word{name, name})
		} else {
			o.install = append(o.install, word{name, name})
		}
		return
	}
	version := strings.TrimLeft(python.Str(v), "=")
	if version != "" && (strings.ContainsAny(version[:1], "<>") || strings.Contains(version, "*")) {
		var ok bool
		if version, ok = o.choose(name, version, offered); !ok {
			return
		}
	}
	arch := ""
	if i := strings.LastIndex(name, "."); i >= 0 && isArch(name[i+1:]) && (name[i+1:] != ownArch(o.Call) || o.split) {
		name, arch = name[:i], name[i:]
		versions = payload.Texts(there.List(name))
	}
	text := version
	if _, rest, has := strings.Cut(version, ":"); has && o.IgnoreEpoch != any(true) {
		text = rest
	}
	w := word{name, name + "-" + text + arch}
	is := func(oper string) bool {
		return slices.ContainsFunc(versions, func(there string) bool {
			return pkg_resource.Holds(compare(version, there, python.Truth(o.IgnoreEpoch)), oper)
		})
	}
	switch {
	case o.Reinstall && len(versions) > 0:
		if is("==") {
			o.again = append(o.again, w)
		}
	case len(versions) == 0 || is(">=") || kernel.MatchString(name):
		o.install = append(o.install, w)
	default:
		o.downgrade = append(o.downgrade, w)
	}
}

// carryOut makes the calls. Packages on hold are let go for that, if the caller wants it, and held again.
func (o *order) carryOut() error {
	held, err := holdNames(o.Call)
	if err != nil {
		o.Log(slog.LevelDebug, "Failed to get holds, versionlock plugin is probably not installed")
		held = nil
	}
	best := []string{"--best", "--allowerasing"}
	common := func(argv []string) []string {
		argv = append(argv, o.options...)
		if o.SkipVerify {
			argv = append(argv, "--nogpgcheck")
		}
		if o.DownloadOnly && manager() != "dnf5" {
			argv = append(argv, "--downloadonly")
		}
		return argv
	}
	argv := []string{"-y"}
	if manager() == "dnf" {
		argv = append(argv, best...)
	}
	argv = append(common(argv), "install")
	if manager() == "dnf5" {
		argv = append(argv, best...)
	}
	for _, step := range []struct {
		words []word
		argv  []string
	}{{o.install, argv}, {o.downgrade, append(common([]string{"-y"}), "downgrade")},
		{o.again, append(common([]string{"-y"}), "reinstall")}} {
		if err := o.step(step.words, step.argv, held); err != nil {
			return err
		}
	}
	return nil
}

func (o *order) step(words []word, argv, held []string) error {
	var targets []string
	var locked []any
	for _, w := range words {
		switch {
		case !slices.Contains(held, w.name):
			targets = append(targets, w.text)
		case o.UpdateHolds:
			locked = append(locked, w.name)
			targets = append(targets, w.text)
		default:
			o.prevented = append(o.prevented, w.name)
		}
	}
	if len(targets) == 0 {
		return nil
	}
	if len(locked) > 0 {
		if _, err := unhold(o.Call, holdArgs{Packs: locked}); err != nil {
			return err
		}
	}
	out, err := call(o.Call, append(argv, targets...), payload.M("redirect_stderr", true))
	if err != nil {
		return err
	}
	if out.Code != 0 {
		o.errors = append(o.errors, out.Stdout)
	}
	if len(locked) > 0 {
		_, err = hold(o.Call, holdArgs{Packs: locked})
	}
	return err
}

// changed tells what is other than before, or which errors there were.
func (o *order) changed(old *payload.Map) (*payload.Map, error) {
	now, err := list(o.Call, false, o.KW.Value("diff_attr"))
	if err != nil {
		return nil, err
	}
	changes := pkg_resource.Compare(old, now)
	for _, w := range o.again {
		changes.Set(w.name, payload.M("old", textAt(old, w.name), "new", textAt(now, w.name)))
	}
	if len(o.prevented) > 0 {
		o.errors = append(o.errors, "The following package(s) could not be updated because they are being held: "+
			strings.Join(o.prevented, ", ")+". Set 'update_holds' to True to temporarily unhold these packages so that "+
			"they can be updated.")
	}
	if len(o.errors) == 0 {
		return changes, nil
	}
	text := "Error occurred installing package(s)"
	if len(o.again) > 0 {
		text = "Error occurred installing/reinstalling package(s)"
	}
	return nil, pkg_resource.Failure(text, payload.M("errors", payload.AnyList(o.errors), "changes", changes))
}

func textAt(m *payload.Map, key any) any {
	if v, ok := m.Get(key); ok {
		return v
	}
	return ""
}

type upgradeArgs struct {
	Name       any          `arg:"name=None"`
	Packs      any          `arg:"pkgs=None"`
	Refresh    any          `arg:"refresh=True"`
	SkipVerify bool         `arg:"skip_verify=False"`
	Normalize  bool         `arg:"normalize=True"`
	Minimal    bool         `arg:"minimal=False"`
	Obsoletes  bool         `arg:"obsoletes=True"`
	DiffAttr   any          `arg:"diff_attr=None"`
	KW         *payload.Map `arg:"**kwargs"`
}

type updateArgs struct {
	Name       any          `arg:"name=None"`
	Packs      any          `arg:"pkgs=None"`
	Refresh    any          `arg:"refresh=True"`
	SkipVerify bool         `arg:"skip_verify=False"`
	Normalize  bool         `arg:"normalize=True"`
	Minimal    bool         `arg:"minimal=False"`
	Obsoletes  bool         `arg:"obsoletes=False"`
	KW         *payload.Map `arg:"**kwargs"`
}

func update(c *loader.Call, a updateArgs) (*payload.Map, error) {
	return upgrade(c, upgradeArgs{a.Name, a.Packs, a.Refresh, a.SkipVerify, a.Normalize, a.Minimal, a.Obsoletes, nil,
		a.KW})
}

func upgrade(c *loader.Call, a upgradeArgs) (*payload.Map, error) {
	kw := a.KW.Clone()
	if isDNF() && !a.Obsoletes {
		set := slices.DeleteFunc(loader.StringList(kw.Value("setopt")),
			func(s string) bool { return strings.HasPrefix(s, "obsoletes=") })
		kw.Set("setopt", payload.AnyList(append(set, "obsoletes=False")))
	}
	if dicts.IsTrue(a.Refresh) {
		if _, err := refresh(c, kw); err != nil {
			return nil, err
		}
	}
	old, err := list(c, false, a.DiffAttr)
	if err != nil {
		return nil, err
	}
	var targets []string
	if python.Truth(a.Name) || python.Truth(a.Packs) {
		t, err := pkg_resource.Parse(c, pkg_resource.Wanted{Name: a.Name, Packs: a.Packs, Plain: !a.Normalize, KW: kw})
		if err != nil {
			return nil, err
		}
		targets = payload.Texts(t.Packages.Keys())
		if err := namesOnly(targets...); err != nil {
			return nil, err
		}
	}
	argv := append([]string{"--quiet", "-y"}, options(kw, true)...)
	if a.SkipVerify {
		argv = append(argv, "--nogpgcheck")
	}
	verb := "upgrade"
	if !a.Obsoletes && !isDNF() {
		verb = "update"
	}
	if a.Minimal {
		verb += "-minimal"
	}
	out, err := call(c, append(append(argv, verb), targets...), nil)
	if err != nil {
		return nil, err
	}
	now, err := list(c, false, a.DiffAttr)
	if err != nil {
		return nil, err
	}
	changes := pkg_resource.Compare(old, now)
	if out.Code != 0 {
		return nil, pkg_resource.Failure("Problem encountered upgrading packages", payload.M("changes", changes,
			"result", payload.M("retcode", out.Code, "stdout", out.Stdout, "stderr", out.Stderr)))
	}
	return changes, nil
}

type removeArgs struct {
	Name  any          `arg:"name=None"`
	Packs any          `arg:"pkgs=None"`
	KW    *payload.Map `arg:"**kwargs"`
}

func remove(c *loader.Call, a removeArgs) (*payload.Map, error) {
	t, err := pkg_resource.Parse(c, pkg_resource.Wanted{Name: a.Name, Packs: a.Packs})
	if err != nil {
		return nil, err
	}
	old, err := list(c, false, nil)
	if err != nil {
		return nil, err
	}
	words := removable(c, old, t.Packages, flag(a.KW, "split_arch"))
	if len(words) == 0 {
		return payload.NewMap(0), nil
	}
	out, err := call(c, append([]string{"-y", "remove"}, words...), nil)
	if err != nil {
		return nil, err
	}
	now, err := list(c, false, nil)
	if err != nil {
		return nil, err
	}
	changes := pkg_resource.Compare(old, now)
	if out.Code != 0 && out.Stderr != "" {
		return nil, pkg_resource.Failure("Error occurred removing package(s)",
			payload.M("errors", []any{out.Stderr}, "changes", changes))
	}
	return changes, nil
}

// removable are the packages that targets name and that are installed, of a version if one is given.
func removable(c *loader.Call, old, targets *payload.Map, split bool) (words []string) {
	add := func(name string, version any) {
		if !python.Truth(version) {
			words = append(words, name)
			return
		}
		text := python.Str(version)
		if !slices.Contains(strings.Split(old.Str(name), ","), text) {
			return
		}
		arch := ""
		if i := strings.LastIndex(name, "."); i >= 0 && isArch(name[i+1:]) && (name[i+1:] != ownArch(c) || split) {
			name, arch = name[:i], name[i:]
		}
		if _, rest, has := strings.Cut(text, ":"); has {
			text = rest
		}
		words = append(words, name+"-"+text+arch)
	}
	for v, version := range targets.All() {
		name := python.Str(v)
		if !strings.Contains(name, "*") {
			if old.Has(name) {
				add(name, version)
			}
			continue
		}
		for known := range old.All() {
			if fnmatch.Match(name, python.Str(known)) {
				add(python.Str(known), version)
			}
		}
	}
	return words
}
