// Package alternatives is the state module alternatives: which programs may stand behind a common name, and which does.
// Salt has it up to 3006. Answers to salt/states/alternatives.py of 3006.
package alternatives

import (
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module alternatives.
func Module() loader.Module {
	return loader.Module{File: "alternatives", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("install", install, "A path is an alternative of a name.", "pager:", "  alternatives.install:",
				"    - link: /usr/bin/pager", "    - path: /usr/bin/less", "    - priority: 50"),
			states.Fn("remove", remove, "A path is no alternative of a name.", "pager:", "  alternatives.remove:",
				"    - path: /usr/bin/less"),
			states.Fn("auto", auto, "The priorities choose the path of a name.", "pager:", "  alternatives.auto"),
			states.Fn("set", set, "A name has a path.", "pager:", "  alternatives.set:", "    - path: /usr/bin/less").
				Named("set_"),
		}
	}}
}

func virtual(place loader.Place) (bool, string) {
	if !place.Has("alternatives.auto") {
		return false, "alernatives module could not be loaded"
	}
	return true, ""
}

type (
	named struct {
		Name string `arg:"name"`
	}
	pathed struct {
		Name string `arg:"name"`
		Path string `arg:"path"`
	}
	added struct {
		Name     string `arg:"name"`
		Link     string `arg:"link"`
		Path     string `arg:"path"`
		Priority any    `arg:"priority"`
	}
)

// also adds keys to the return, in both modes.
func also(p states.Plan, keys *payload.Map) states.Plan {
	p.Also = keys
	if apply := p.Apply; apply != nil {
		p.Apply = func() (states.Done, error) {
			done, err := apply()
			done.Also = keys
			return done, err
		}
	}
	return p
}

// ask calls a function of the module alternatives.
func ask(c *states.Call, function string, args ...any) (any, error) {
	return c.Salt("alternatives."+function, nil, args...)
}

func install(c *states.Call, a added) (states.Plan, error) {
	p, err := a.plan(c)
	return also(p, payload.M("link", a.Link, "path", a.Path, "priority", a.Priority)), err
}

func (a added) plan(c *states.Call) (states.Plan, error) {
	there, err := ask(c, "check_exists", a.Name, a.Path)
	if err != nil {
		return states.Plan{}, err
	}
	if there == true {
		return states.Correct("Alternative " + a.Path + " for " + a.Name + " is already registered"), nil
	}
	priority := python.Str(a.Priority)
	would := "Alternative will be set for " + a.Name + " to " + a.Path + " with priority " + priority
	return states.Would(would, nil, func() (states.Done, error) {
		text, err := ask(c, "install", a.Name, a.Link, a.Path, a.Priority)
		if err != nil {
			return states.Done{}, err
		}
		if there, err = ask(c, "check_exists", a.Name, a.Path); err != nil {
			return states.Done{}, err
		}
		if there != true {
			return states.Failed("Alternative for "+a.Name+" not installed: "+python.Str(text), nil)
		}
		chosen, err := ask(c, "check_installed", a.Name, a.Path)
		if err != nil {
			return states.Done{}, err
		}
		comment := "Alternative " + a.Path + " for " + a.Name + " registered with priority " + priority +
			" and not set to default"
		if chosen == true {
			comment = "Alternative for " + a.Name + " set to path " + a.Path + " with priority " + priority
		}
		return states.Changed(comment, payload.M("name", a.Name, "link", a.Link, "path", a.Path, "priority", a.Priority))
	}), nil
}

func remove(c *states.Call, a pathed) (states.Plan, error) {
	p, err := a.removal(c)
	return also(p, payload.M("path", a.Path)), err
}

// removal fails where the alternative is still there afterwards. Salt looks at nothing then.
func (a pathed) removal(c *states.Call) (states.Plan, error) {
	there, err := ask(c, "check_exists", a.Name, a.Path)
	if err != nil {
		return states.Plan{}, err
	}
	of := "Alternative for " + a.Name
	if there != true {
		path, err := ask(c, "show_current", a.Name)
		if err != nil {
			return states.Plan{}, err
		}
		if python.Truth(path) {
			return states.Correct(of + " is set to it's default path " + python.Str(path)), nil
		}
		return states.Wrong(of + " doesn't exist"), nil
	}
	return states.Would(of+" will be removed", nil, func() (states.Done, error) {
		text, err := ask(c, "remove", a.Name, a.Path)
		if err != nil {
			return states.Done{}, err
		}
		there, err := ask(c, "check_exists", a.Name, a.Path)
		if err != nil {
			return states.Done{}, err
		}
		if there == true {
			return states.Failed(of+" not removed: "+python.Str(text), nil)
		}
		path, err := ask(c, "show_current", a.Name)
		if err != nil || !python.Truth(path) {
			return states.Done{Result: true, Comment: of + " removed"}, err
		}
		return states.Changed(of+" removed. Falling back to path "+python.Str(path), payload.M("path", path))
	}), nil
}

// auto fails for a name that there is not. Salt shows the complaint as a change.
func auto(c *states.Call, a named) (states.Plan, error) {
	v, err := ask(c, "display", a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	line, rest, _ := strings.Cut(python.Str(v), "\n")
	switch {
	case strings.HasSuffix(line, " auto mode"):
		return states.Correct(a.Name + " already in auto mode"), nil
	case rest == "":
		return states.Wrong("Alternative for " + a.Name + " doesn't exist: " + line), nil
	}
	return states.Would(a.Name+" will be put in auto mode", nil, func() (states.Done, error) {
		text, err := ask(c, "auto", a.Name)
		return states.Done{Result: true, Changes: payload.M("result", text)}, err
	}), nil
}

func set(c *states.Call, a pathed) (states.Plan, error) {
	p, err := a.choice(c)
	return also(p, payload.M("path", a.Path)), err
}

// choice fails where the name has another path afterwards. Salt only says so.
func (a pathed) choice(c *states.Call) (states.Plan, error) {
	path, err := ask(c, "show_current", a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	of := "Alternative for " + a.Name
	if path == a.Path {
		return states.Correct(of + " already set to " + a.Path), nil
	}
	there, err := ask(c, "check_exists", a.Name, a.Path)
	if err != nil {
		return states.Plan{}, err
	}
	if there != true {
		return states.Wrong("Alternative " + a.Path + " for " + a.Name + " doesn't exist"), nil
	}
	return states.Would(of+" will be set to path "+a.Path, nil, func() (states.Done, error) {
		if _, err := ask(c, "set", a.Name, a.Path); err != nil {
			return states.Done{}, err
		}
		path, err := ask(c, "show_current", a.Name)
		switch {
		case err != nil:
			return states.Done{}, err
		case path != a.Path:
			return states.Failed(of+" not updated", nil)
		}
		return states.Changed(of+" set to path "+a.Path, payload.M("path", path))
	}), nil
}
