// Package virtualenv_mod is the state module virtualenv: environments of Python, with packages. Answers to
// salt/states/virtualenv_mod.py.
package virtualenv_mod

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/text/pep440"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is virtualenv, where there is the execution module.
func Module() loader.Module {
	return loader.Module{File: "virtualenv_mod", Name: "virtualenv", Virtual: virtual, Funcs: func() []loader.Func {
		const doc = "Have a virtual environment, with packages."
		return []loader.Func{
			states.Fn("managed", managed, doc, "/srv/venv:", "  virtualenv.managed:",
				"    - requirements: salt://app/requirements.txt"),
			states.Fn("manage", managed, doc).Named("managed"),
		}
	}}
}

func virtual(place loader.Place) (bool, string) {
	if !place.Has("virtualenv.create") {
		return false, "virtualenv module could not be loaded"
	}
	return true, ""
}

// environment is a virtual environment on its way.
type environment struct {
	managedArgs
	c            *states.Call
	python       string
	exists       bool
	requirements any // with a file of the master in the cache
	kw           *payload.Map
	changes      *payload.Map
}

func managed(c *states.Call, a managedArgs) (states.Plan, error) {
	e := &environment{managedArgs: a, c: c, python: filepath.Join(a.Name, "bin", "python"),
		requirements: a.Requirements,
		kw:           loader.CleanKWArgs(a.KW), changes: payload.NewMap(0)}
	_, err := os.Stat(e.python)
	e.exists = err == nil
	if text, isText := a.Requirements.(string); isText && strings.HasPrefix(text, "salt://") {
		v, err := c.Salt("cp.cache_file", nil, text, c.Saltenv)
		if err != nil {
			return states.Plan{}, err
		}
		if !python.Truth(v) {
			return states.Wrong("pip requirements file '" + text + "' not found"), nil
		}
		e.requirements = v
	}
	if e.exists && a.Clear {
		for key, ask := range map[string]func() (any, error){
			"cleared_packages": func() (any, error) { return c.Salt("pip.freeze", payload.M("bin_env", a.Name)) },
			"old":              e.version,
		} {
			v, err := ask()
			if err != nil {
				return states.Plan{}, err
			}
			e.changes.Set(key, v)
		}
		return states.Would("Virtualenv "+a.Name+" is set to be cleared", e.changes.Clone(), e.apply), nil
	}
	if e.exists {
		return states.Plan{Result: true, Comment: "Virtualenv " + a.Name + " is already created", Apply: e.apply}, nil
	}
	return states.Would("Virtualenv "+a.Name+" is set to be created", nil, e.apply), nil
}

// version is what the Python of the environment says of itself on standard error: nothing, as in Salt, since Python
// 3.4.
func (e *environment) version() (any, error) {
	v, err := e.c.Salt("cmd.run_stderr", payload.M("python_shell", false), []any{e.python, "-V"})
	return strings.Trim(loader.Text(v), "\n"), err
}

func (e *environment) apply() (states.Done, error) {
	text := "virtualenv exists"
	if !e.exists || e.Clear {
		why, err := e.create()
		if why != "" || err != nil {
			return states.Done{Result: false, Comment: why, Changes: e.changes}, err
		}
		v, err := e.version()
		if err != nil {
			return states.Done{}, err
		}
		e.changes.Set("new", v)
		if text = "Created new virtualenv"; e.Clear {
			text = "Cleared existing virtualenv"
		}
	}
	if why, err := e.checkOptions(); why != "" || err != nil {
		return states.Done{Result: false, Comment: why, Changes: e.changes}, err
	}
	if !python.Truth(e.requirements) && !python.Truth(e.PipPkgs) {
		return states.Changed(text, e.changes)
	}
	return e.install(text)
}

// create makes the environment; why is what went wrong.
func (e *environment) create() (why string, err error) {
	kw := payload.M("venv_bin", e.VenvBin, "system_site_packages", e.SystemSitePackages, "distribute", e.Distribute,
		"clear",
		e.Clear, "python", e.Python, "extra_search_dir", e.ExtraSearchDir, "never_download", e.NeverDownload,
		"prompt", e.Prompt,
		"user", e.User, "use_vt", e.UseVT)
	kw.Update(e.kw)
	v, err := e.c.Salt("virtualenv.create", kw, e.Name)
	if _, missing := err.(*loader.CommandNotFoundError); missing {
		return "Failed to create virtualenv: " + loader.Message(err), nil
	}
	if err != nil {
		return "", err
	}
	out, _ := v.(*payload.Map)
	if code, ok := out.Int("retcode"); !ok || code != 0 {
		return out.Str("stdout") + out.Str("stderr"), nil
	}
	return "", nil
}

// checkOptions refuses options that the pip of the environment does not know.
func (e *environment) checkOptions() (why string, err error) {
	for _, o := range []struct {
		given       any
		name        string
		least, most string
	}{{e.UseWheel, "use_wheel", "1.4", "9.0.3"}, {e.NoUseWheel, "no_use_wheel", "1.4", "9.0.3"},
		{e.NoBinary, "no_binary", "7.0.0", ""}} {
		if !python.Truth(o.given) {
			continue
		}
		v, err := e.c.Salt("pip.version", payload.M("bin_env", e.Name))
		if err != nil {
			return "", err
		}
		version := loader.Text(v)
		low, _ := pep440.Compare(version, o.least)
		high, known := pep440.Compare(version, o.most)
		if low >= 0 && (!known || high <= 0) {
			continue
		}
		only := "between " + o.least + " and " + o.most
		if o.most == "" {
			only = o.least + " and newer"
		}
		return "The '" + o.name + "' option is only supported in pip " + only + ". The version of pip detected was " +
			version +
			".", nil
	}
	return "", nil
}

// frozen are the packages of the environment; why is what pip said of a failure.
func (e *environment) frozen(kw *payload.Map) (list []string, err error) {
	v, err := e.c.Salt("pip.freeze", kw.Set("bin_env", e.Name))
	return payload.Texts(v), err
}

// install has pip install what is wanted.
func (e *environment) install(text string) (states.Done, error) {
	before, err := e.frozen(payload.M("user", e.User, "use_vt", e.UseVT))
	if err != nil {
		return states.Failed(loader.Message(err), e.changes)
	}
	cwd := e.Cwd
	if python.Truth(e.requirements) {
		first := loader.StringList(e.requirements)[0]
		if abs, err := filepath.Abs(first); err == nil && abs != first {
			cwd = filepath.Dir(abs)
		}
	}
	kw := payload.M("pkgs", e.PipPkgs, "requirements", e.requirements, "process_dependency_links",
		e.ProcessDependencyLinks,
		"bin_env", e.Name, "use_wheel", e.UseWheel, "no_use_wheel", e.NoUseWheel, "no_binary", e.NoBinary, "user",
		e.User, "cwd",
		cwd, "index_url", e.IndexURL, "extra_index_url", e.ExtraIndexURL, "download", e.PipDownload, "download_cache",
		e.PipDownloadCache, "pre_releases", e.PreReleases, "exists_action", e.PipExistsAction, "ignore_installed",
		e.PipIgnoreInstalled, "upgrade", e.PipUpgrade, "no_deps", e.NoDeps, "proxy", e.Proxy, "use_vt", e.UseVT,
		"env_vars",
		e.EnvVars, "no_cache_dir", e.PipNoCacheDir, "cache_dir", e.PipCacheDir)
	kw.Update(e.kw)
	v, err := e.c.Salt("pip.install", kw)
	if err != nil {
		return states.Done{}, err
	}
	out, _ := v.(*payload.Map)
	code, _ := out.Int("retcode")
	if code > 0 {
		text += "\n" + out.Str("stdout") + "\n" + out.Str("stderr")
	}
	after, err := e.frozen(payload.NewMap(0))
	if err != nil {
		return states.Done{}, err
	}
	fresh, gone := lacking(after, before), lacking(before, after)
	if len(fresh)+len(gone) > 0 {
		e.changes.Set("packages", payload.M("new", orEmpty(fresh), "old", orEmpty(gone)))
	}
	return states.Done{Result: code == 0, Comment: text, Changes: e.changes}, nil
}

// lacking are the lines of one list that another lacks.
func lacking(list, in []string) (out []string) {
	for _, line := range list {
		if !slices.Contains(in, line) {
			out = append(out, line)
		}
	}
	return out
}

// orEmpty is a list, or "" where it is empty, as Salt has it.
func orEmpty(list []string) any {
	if len(list) == 0 {
		return ""
	}
	return payload.AnyList(list)
}
