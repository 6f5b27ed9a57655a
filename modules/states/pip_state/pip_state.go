// Package pip_state is the state module pip: packages of Python. What pip does stands in modules/execution/pip. Answers
// to salt/states/pip_state.py.
package pip_state

import (
	"reflect"
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/text/pep440"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is pip, where there is the execution module.
func Module() loader.Module {
	return loader.Module{File: "pip_state", Name: "pip", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("installed", installed, "Have packages installed.",
				"flask:", "  pip.installed:", "    - name: flask >= 3", "    - bin_env: /srv/venv"),
			states.Fn("removed", removed, "Have a package not installed.", "flask:", "  pip.removed"),
			states.Fn("uptodate", upToDate, "Have the newest version of all packages.", "venv:", "  pip.uptodate:",
				"    - bin_env: /srv/venv"),
		}
	}}
}

func virtual(place loader.Place) (bool, string) { return place.Has("pip.list"), "" }

// keywords are the parameters of a function with their values.
func keywords(a any) *payload.Map {
	out, v := payload.NewMap(0), reflect.ValueOf(a)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("arg"), "=")
		if !strings.HasPrefix(name, "*") {
			out.Set(name, v.Field(i).Interface())
		}
	}
	return out
}

type removedArgs struct {
	Name         string `arg:"name"`
	Requirements any    `arg:"requirements=None"`
	BinEnv       any    `arg:"bin_env=None"`
	Log          any    `arg:"log=None"`
	Proxy        any    `arg:"proxy=None"`
	Timeout      any    `arg:"timeout=None"`
	User         any    `arg:"user=None"`
	Cwd          any    `arg:"cwd=None"`
	UseVT        bool   `arg:"use_vt=False"`
}

// removed removes a package. Unlike Salt: it looks at the exit code of pip.
func removed(c *states.Call, a removedArgs) (states.Plan, error) {
	v, err := c.Salt("pip.list", payload.M("bin_env", a.BinEnv, "user", a.User, "cwd", a.Cwd))
	if err != nil {
		return states.Wrong("Error uninstalling '" + a.Name + "': " + loader.Message(err)), nil
	}
	if have, _ := v.(*payload.Map); !have.Has(a.Name) {
		return states.Correct("Package is not installed."), nil
	}
	return states.Would("Package "+a.Name+" is set to be removed", nil, func() (states.Done, error) {
		kw := keywords(a)
		kw.Delete("name")
		v, err := c.Salt("pip.uninstall", kw.Set("pkgs", a.Name))
		if err != nil {
			return states.Done{}, err
		}
		out, _ := v.(*payload.Map)
		if code, ok := out.Int("retcode"); !ok || code != 0 {
			return states.Failed(strings.TrimSpace("Could not remove package. "+out.Str("stderr")+out.Str("comment")),
				nil)
		}
		return states.Changed("Package was successfully removed.", payload.M(a.Name, "Removed"))
	}), nil
}

func upToDate(c *states.Call, a struct {
	Name   string `arg:"name"`
	BinEnv any    `arg:"bin_env=None"`
	User   any    `arg:"user=None"`
	Cwd    any    `arg:"cwd=None"`
	UseVT  bool   `arg:"use_vt=False"`
}) (states.Plan, error) {
	kw := payload.M("bin_env", a.BinEnv, "user", a.User, "cwd", a.Cwd)
	v, err := c.Salt("pip.list_upgrades", kw)
	if err != nil {
		return states.Wrong(loader.Message(err)), nil
	}
	if !python.Truth(v) {
		return states.Correct("System is already up-to-date."), nil
	}
	return states.Would("System update will be performed", nil, func() (states.Done, error) {
		v, err := c.Salt("pip.upgrade", kw.Clone().Set("use_vt", a.UseVT))
		if err != nil {
			return states.Done{}, err
		}
		out, _ := v.(*payload.Map)
		if out.Value("result") == false {
			return states.Failed(out.Str("comment"), out.Map("changes"))
		}
		return states.Changed("Upgrade successful.", out)
	}), nil
}

// wanted is a package with what is wanted of it.
type wanted struct {
	prefix string // its name as indexes compare it; "": not known
	text   string // as the state says it
	specs  []pep440.Specifier
}

// parsed reads a package of a state; why is what is wrong with it.
func parsed(text string) (w wanted, why string) {
	w.text = text
	for _, vcs := range []string{"git+", "svn+", "hg+", "bzr+"} {
		if strings.HasPrefix(text, vcs) {
			_, egg, _ := strings.Cut(text, "#egg=")
			egg, _, _ = strings.Cut(egg, "&")
			w.prefix = pep440.Normalize(egg)
			return w, ""
		}
	}
	if strings.Contains(text, "://") && !strings.Contains(text, "@ ") || strings.HasPrefix(text, ".") ||
		strings.HasPrefix(text, "/") {
		w.fromFile()
		return w, ""
	}
	r, ok := pep440.ParseRequirement(text)
	switch {
	case ok:
		w.prefix, w.specs = pep440.Normalize(r.Name), r.Specs
		return w, ""
	case strings.Contains(text, "=") && !strings.Contains(text, "=="):
		return w, "Invalid version specification in package " + text + ". '=' is not supported, use '==' instead."
	}
	return w, "pip raised an exception while parsing '" + text + "': Invalid requirement: " + python.Repr(text)
}

// fromFile takes name and version of the name of a wheel.
func (w *wanted) fromFile() {
	base := w.text[strings.LastIndexByte(w.text, '/')+1:]
	parts := strings.Split(base, "-")
	if strings.HasSuffix(base, ".whl") && len(parts) >= 5 {
		w.prefix = pep440.Normalize(parts[0])
		w.specs = []pep440.Specifier{{Op: "==", Version: parts[1]}}
	}
}
