package pip_state

import (
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/text/pep440"
	"brine/wire/payload"
	"brine/wire/python"
)

// installation is packages on their way.
type installation struct {
	installedArgs
	c       *states.Call
	pkgs    []string
	wanted  []wanted
	already []string // comments about what is there
	todo    []wanted
}

func installed(c *states.Call, a installedArgs) (states.Plan, error) {
	if !python.Truth(a.BinEnv) {
		a.BinEnv = a.PipBin
	}
	i := &installation{installedArgs: a, c: c, pkgs: []string{python.Str(a.Name)}}
	if python.Truth(a.Pkgs) {
		list, ok := a.Pkgs.([]any)
		if !ok {
			p := states.Wrong("pkgs argument must be formatted as a list")
			p.Name = a.Name
			return p, nil
		}
		i.pkgs = nil
		for _, v := range list {
			i.pkgs = append(i.pkgs, textOf(v))
		}
	}
	p, err := i.plan()
	p.Name = strings.Join(i.pkgs, ";")
	return p, err
}

// textOf is a package of a list: a text, or a name with its version.
func textOf(v any) string {
	m, ok := v.(*payload.Map)
	if !ok || m.Len() == 0 {
		return python.Str(v)
	}
	key := m.Keys()[0]
	return python.Str(key) + " " + python.Str(m.Value(key))
}

// files tells whether files of requirements or checkouts are installed, not packages.
func (i *installation) files() bool { return python.Truth(i.Requirements) || python.Truth(i.Editable) }

func (i *installation) plan() (states.Plan, error) {
	v, err := i.c.Salt("pip.version", nil, i.BinEnv)
	if err != nil {
		return states.Wrong("Error installing '" + python.Str(i.Name) + "': " + loader.Message(err)), nil
	}
	if why := i.checkOptions(loader.Text(v)); why != "" {
		return states.Wrong(why), nil
	}
	if !i.files() {
		var wrong []string
		for _, text := range i.pkgs {
			w, why := parsed(text)
			if why != "" {
				wrong = append(wrong, why)
			}
			i.wanted = append(i.wanted, w)
		}
		if len(wrong) > 0 {
			return states.Wrong(strings.Join(wrong, "\n")), nil
		}
	}
	if python.Truth(i.User) && i.c.Has("user.info") {
		if v, err := i.c.Salt("user.info", nil, i.User); err != nil || !python.Truth(v) {
			return states.Wrong("User " + python.Str(i.User) + " does not exist"), err
		}
	}
	if i.files() {
		return states.Would(i.filesText(), nil, i.installFiles), nil
	}
	return i.planPackages()
}

// checkOptions refuses options that this pip does not know.
func (i *installation) checkOptions(version string) string {
	for _, o := range []struct {
		given any
		name  string
		least string
		most  string
	}{{i.UseWheel, "use_wheel", "1.4", "9.0.3"}, {i.NoUseWheel, "no_use_wheel", "1.4", "9.0.3"},
		{i.NoBinary, "no_binary", "7.0.0", ""}} {
		low, _ := pep440.Compare(version, o.least)
		high, known := pep440.Compare(version, o.most)
		if !python.Truth(o.given) || low >= 0 && (!known || high <= 0) {
			continue
		}
		text := "The '" + o.name + "' option is only supported in pip "
		if o.most == "" {
			return text + o.least + " and newer. The version of pip detected was " + version + "."
		}
		return text + "between " + o.least + " and " + o.most + ". The version of pip detected was " + version + "."
	}
	return ""
}

// filesText is what test mode says of files.
func (i *installation) filesText() string {
	var out []string
	if python.Truth(i.Requirements) {
		out = append(out, "Requirements file '"+python.Str(i.Requirements)+"' will be processed.")
	}
	if python.Truth(i.Editable) {
		out = append(out, `Package will be installed in editable mode (i.e. setuptools "develop mode") from `+
			python.Str(i.Editable)+".")
	}
	return strings.Join(out, " ")
}

// have are the packages that are installed.
func (i *installation) have(prefix any) (*payload.Map, error) {
	v, err := i.c.Salt("pip.list", payload.M("prefix", prefix, "bin_env", i.BinEnv, "user", i.User, "cwd", i.Cwd,
		"env_vars",
		i.EnvVars))
	m, _ := v.(*payload.Map)
	return m, err
}

// planPackages finds the packages that are to be installed.
func (i *installation) planPackages() (states.Plan, error) {
	have, err := i.have(nil)
	if err != nil {
		return states.Plan{}, err
	}
	for _, w := range i.wanted {
		fine, err := i.isThere(w, have)
		if err != nil {
			return states.Plan{}, err
		}
		if !fine {
			i.todo = append(i.todo, w)
		}
	}
	if len(i.todo) == 0 {
		last := "All specified packages are already installed"
		if i.Upgrade {
			last += " and up-to-date"
		}
		return states.Correct(i.with(last)), nil
	}
	text := "Python package " + i.todo[0].text + " is set to be installed"
	if len(i.wanted) > 1 {
		text = "Python package(s) set to be installed:"
		for _, w := range i.wanted {
			text += "\n" + w.text
		}
	}
	return states.Would(text, nil, i.installPackages), nil
}

// with puts what was there before in front of a comment.
func (i *installation) with(text string) string {
	return strings.Join(append(slices.Clone(i.already), text), "\n")
}

// isThere tells whether a package is as wanted.
func (i *installation) isThere(w wanted, have *payload.Map) (bool, error) {
	version, there := have.Value(w.prefix).(string)
	if w.prefix == "" || !there || i.IgnoreInstalled || i.ForceReinstall {
		return false, nil
	}
	installed := "Python package " + w.text + " was already installed"
	if !i.Upgrade {
		if pep440.Allows(w.specs, version) || len(w.specs) == 0 {
			i.already = append(i.already, installed)
			return true, nil
		}
		return false, nil
	}
	newest, err := i.newest(w)
	switch {
	case err != nil:
		return false, err
	case newest == "":
		i.already = append(i.already, "Python package "+w.prefix+" was already installed and\nthe available upgrade "+
			"doesn't "+
			"fulfills the version requirements")
		return true, nil
	}
	if order, ok := pep440.Compare(version, newest); ok && order == 0 {
		i.already = append(i.already, installed)
		return true, nil
	}
	return false, nil
}

// newest is the newest version that is wanted, "" where there is none.
func (i *installation) newest(w wanted) (string, error) {
	kw := payload.M("bin_env", i.BinEnv, "user", i.User, "cwd", i.Cwd, "index_url", i.IndexURL, "extra_index_url",
		i.ExtraIndexURL)
	for name, mark := range map[string]string{"include_alpha": "a", "include_beta": "b", "include_rc": "rc"} {
		kw.Set(name, slices.ContainsFunc(w.specs, func(s pep440.Specifier) bool {
			return strings.Contains(s.Version,
				mark)
		}))
	}
	v, err := i.c.Salt("pip.list_all_versions", kw, w.prefix)
	if err != nil {
		return "", err
	}
	versions := payload.Texts(v)
	for j := len(versions) - 1; j >= 0; j-- {
		if len(w.specs) == 0 || pep440.Allows(w.specs, versions[j]) {
			return versions[j], nil
		}
	}
	return "", nil
}

// install calls pip.
func (i *installation) install(pkgs any) (*payload.Map, error) {
	kw := keywords(i.installedArgs)
	for _, own := range []string{"name", "pkgs", "pip_bin", "repo", "cache_dir"} {
		kw.Delete(own)
	}
	kw.Update(payload.M("pkgs", pkgs, "bin_env", i.BinEnv, "saltenv", i.c.Saltenv, "disable_version_check", true,
		"cache_dir", i.CacheDir))
	kw.Update(loader.CleanKWArgs(i.KW))
	v, err := i.c.Salt("pip.install", kw)
	out, _ := v.(*payload.Map)
	return out, err
}

// whatFailed is what pip said.
func whatFailed(out *payload.Map) (text string, failed bool) {
	if code, ok := out.Int("retcode"); ok && code == 0 {
		return "", false
	}
	if out.Has("stdout") {
		return "Error: " + out.Str("stdout") + " " + out.Str("stderr"), true
	}
	return "Error: " + out.Str("comment"), true
}

// unchanged are how lines of pip begin that tell of no change.
var unchanged = []string{"Requirement already satisfied", "Requirement already up-to-date", "Requirement not upgraded",
	"Collecting", "Cloning", "Cleaning up...", "Looking in indexes"}

func (i *installation) installFiles() (states.Done, error) {
	out, err := i.install("")
	if err != nil {
		return states.Done{}, err
	}
	var said []string
	files, editable := python.Str(i.Requirements), python.Str(i.Editable)
	if why, failed := whatFailed(out); failed {
		if python.Truth(i.Requirements) {
			said = append(said, `Unable to process requirements file "`+files+`"`)
		}
		if python.Truth(i.Editable) {
			said = append(said, "Unable to install from VCS checkout "+editable+".")
		}
		return states.Failed(strings.Join(append(said, why), " "), nil)
	}
	changes := payload.NewMap(0)
	if python.Truth(i.Requirements) {
		for line := range strings.SplitSeq(out.Str("stdout"), "\n") {
			if !slices.ContainsFunc(unchanged,
				func(head string) bool { return strings.HasPrefix(strings.TrimSpace(line), head) }) {
				changes.Set("requirements", true)
			}
		}
		text := "Requirements were already installed."
		if changes.Len() > 0 {
			text = "Successfully processed requirements file " + files + "."
		}
		said = append(said, text)
	}
	if python.Truth(i.Editable) {
		said = append(said, "Package successfully installed from VCS checkout "+editable+".")
		changes.Set("editable", true)
	}
	return states.Changed(strings.Join(said, " "), changes)
}

func (i *installation) installPackages() (states.Done, error) {
	var names []string
	for _, w := range i.todo {
		names = append(names, strings.ReplaceAll(w.text, ",", ";"))
	}
	out, err := i.install(strings.Join(names, ","))
	if err != nil {
		return states.Done{}, err
	}
	if why, failed := whatFailed(out); failed {
		return states.Failed(i.with("Failed to install packages: "+strings.Join(names, ", ")+". "+why), nil)
	}
	before := satisfied(out.Str("stdout"))
	changes, missing := payload.NewMap(0), []string{}
	for n, w := range i.todo {
		if w.prefix == "" {
			changes.Set(names[n]+"==???", "Installed")
			continue
		}
		have, err := i.have(w.prefix)
		switch version, there := have.Value(w.prefix).(string); {
		case err != nil:
			return states.Done{}, err
		case have.Len() == 0:
			missing = append(missing, "There was no error installing package '"+w.text+"' although it does not show "+
				"when calling "+
				"'pip.freeze'.")
		case there && !slices.Contains(before, w.prefix):
			changes.Set(w.prefix+"=="+version, "Installed")
		}
	}
	text := "All packages were successfully installed"
	if len(missing) > 0 {
		text = strings.Join(missing, "\n")
	}
	return states.Changed(i.with(text), changes)
}

// satisfied are the packages that pip found installed.
func satisfied(text string) (out []string) {
	for line := range strings.SplitSeq(text, "\n") {
		for _, head := range []string{"Requirement already satisfied: ", "Requirement already up-to-date: "} {
			rest, ok := strings.CutPrefix(line, head)
			if words := strings.Fields(rest); ok && len(words) > 0 {
				name, _, _ := strings.Cut(words[0], "=")
				out = append(out, pep440.Normalize(strings.FieldsFunc(name+" ", func(r rune) bool {
					return strings.ContainsRune("!<>~@ ", r)
				})[0]))
			}
		}
	}
	return out
}
