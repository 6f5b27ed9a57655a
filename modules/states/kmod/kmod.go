// Package kmod is the state module kmod: modules of the kernel are loaded, or are not, now and at each boot. Answers to
// salt/states/kmod.py.
package kmod

import (
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module kmod.
func Module() loader.Module {
	return loader.Module{File: "kmod", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("present", present, "Modules are loaded, with persist at each boot too.", "kvm_amd:", "  kmod.present"),
			states.Fn("absent", absent, "Modules are not loaded, with persist at no boot either.", "pcspkr:", "  kmod.absent"),
		}
	}}
}

func virtual(place loader.Place) (bool, string) {
	if !place.Has("kmod.available") {
		return false, "kmod module could not be loaded"
	}
	return true, ""
}

type presence struct {
	Name    string `arg:"name"`
	Persist bool   `arg:"persist=False"`
	Mods    any    `arg:"mods=None"`
}

type absence struct {
	Name    string `arg:"name"`
	Persist bool   `arg:"persist=False"`
	Comment bool   `arg:"comment=True"`
	Mods    any    `arg:"mods=None"`
}

// modules are those that a state is about, each once.
func modules(name string, mods any) (out []string) {
	list, ok := mods.([]any)
	if !ok {
		list = []any{name}
	}
	for _, v := range list {
		if mod := python.Str(v); !slices.Contains(out, mod) {
			out = append(out, mod)
		}
	}
	return out
}

// list is what a function of the module kmod lists.
func list(c *states.Call, function string, args ...any) ([]string, error) {
	v, err := c.Salt("kmod."+function, nil, args...)
	return payload.Texts(v), err
}

// told is a sentence about modules, with a verb for one and for several.
func told(mods []string, one, several string) []string {
	switch len(mods) {
	case 0:
		return nil
	case 1:
		return []string{"Kernel module " + mods[0] + " " + one}
	}
	return []string{"Kernel modules " + strings.Join(mods, ", ") + " " + several}
}

// done is a sentence that begins with what was done to modules.
func done(what string, mods []string) []string {
	switch len(mods) {
	case 0:
		return nil
	case 1:
		return []string{what + " kernel module " + mods[0]}
	}
	return []string{what + " kernel modules " + strings.Join(mods, ", ")}
}

// parted are the modules that a list has, and those that it has not.
func parted(mods, list []string) (in, out []string) {
	for _, mod := range mods {
		if slices.Contains(list, mod) {
			in = append(in, mod)
		} else {
			out = append(out, mod)
		}
	}
	return in, out
}

// state are the modules that are loaded and those that are at each boot.
func state(c *states.Call, persist bool) (loaded, kept []string, err error) {
	if loaded, err = list(c, "mod_list"); err == nil && persist {
		kept, err = list(c, "mod_list", true)
	}
	return loaded, kept, err
}

// present is False in test mode for a module that there is not. Salt says then that it would be loaded.
func present(c *states.Call, a presence) (states.Plan, error) {
	mods := modules(a.Name, a.Mods)
	loaded, kept, err := state(c, a.Persist)
	if err != nil {
		return states.Plan{}, err
	}
	if a.Persist {
		loaded, _ = parted(loaded, kept)
	}
	there, missing := parted(mods, loaded)
	comment := told(there, "is already present", "are already present")
	if len(missing) == 0 {
		return states.Correct(strings.Join(comment, "\n")), nil
	}
	all, err := list(c, "available")
	if err != nil {
		return states.Plan{}, err
	}
	available, unknown := parted(missing, all)
	lines := append(slices.Clone(comment), told(missing, "is set to be loaded", "are set to be loaded")...)
	unavailable := told(unknown, "is unavailable", "are unavailable")
	p := states.Plan{Comment: strings.Join(append(lines, unavailable...), "\n")}
	if unknown != nil {
		p.Result = false
	}
	p.Apply = func() (states.Done, error) {
		w := work{c: c, what: "load", changed: "loaded", begins: "Loaded", comment: append(comment, unavailable...),
			failed: unknown != nil}
		return w.each(available, a.Persist)
	}
	return p, nil
}

func absent(c *states.Call, a absence) (states.Plan, error) {
	mods := modules(a.Name, a.Mods)
	loaded, kept, err := state(c, a.Persist)
	if err != nil {
		return states.Plan{}, err
	}
	there, _ := parted(mods, append(loaded, kept...))
	if len(there) == 0 {
		return states.Correct(told(mods, "is already removed", "are already removed")), nil
	}
	return states.Would(told(there, "is set to be removed", "are set to be removed"), nil, func() (states.Done, error) {
		w := work{c: c, what: "remove", changed: "removed", begins: "Removed"}
		return w.each(there, a.Persist, a.Comment)
	}), nil
}

// work does something with modules, one after another.
type work struct {
	c                     *states.Call
	what, changed, begins string
	comment               []string
	failed                bool
}

func (w *work) each(mods []string, args ...any) (states.Done, error) {
	changes := payload.NewMap(0)
	var fine, not, errors []string
	for _, mod := range mods {
		if changes.Has(mod) {
			fine = append(fine, mod)
			continue
		}
		v, err := w.c.Salt("kmod."+w.what, nil, append([]any{mod}, args...)...)
		if err != nil {
			return states.Done{}, err
		}
		list, ok := v.([]any)
		switch {
		case !ok:
			errors = append(errors, "Failed to "+w.what+" kernel module "+mod+": "+python.Str(v))
		case len(list) == 0:
			not = append(not, mod)
		default:
			fine = append(fine, mod)
		}
		for _, name := range list {
			changes.Set(name, w.changed)
		}
	}
	comment := append(w.comment, done(w.begins, fine)...)
	comment = append(append(comment, done("Failed to "+w.what, not)...), errors...)
	text := strings.Join(comment, "\n")
	if w.failed || not != nil || errors != nil {
		return states.Failed(text, changes)
	}
	return states.Changed(text, changes)
}
