// Package kmod is the execution module kmod: which modules the kernel has loaded, could load, and loads at the next
// boot. It runs lsmod, modprobe and rmmod. It answers to salt/modules/kmod.py.
package kmod

import (
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module kmod.
func Module() loader.Module {
	return loader.Module{File: "kmod", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("available", available, "List the modules that the kernel could load.", "kmod.available"),
			loader.Fn("check_available", checkAvailable, "Tell whether the kernel could load a module.",
				"kmod.check_available kvm"),
			loader.Fn("lsmod", lsmod, "Show the modules that are loaded.", "kmod.lsmod"),
			loader.Fn("mod_list", modList, "List the modules that are loaded, or those that are at each boot.",
				"kmod.mod_list", "kmod.mod_list only_persist=True"),
			loader.Fn("load", load, "Load a module, with persist=True at each boot too.", "kmod.load kvm"),
			loader.Fn("is_loaded", isLoaded, "Tell whether a module is loaded.", "kmod.is_loaded kvm"),
			loader.Fn("remove", remove, "Unload a module, with persist=True at each boot too.", "kmod.remove kvm"),
		}
	}}
}

func virtual(place loader.Place) (bool, string) {
	kernel, _ := place.Grain("kernel")
	return kernel == "Linux", ""
}

type (
	named struct {
		Mod string `arg:"mod"`
	}
	listed struct {
		OnlyPersist bool `arg:"only_persist=False"`
	}
	loaded struct {
		named
		Persist bool `arg:"persist=False"`
	}
	removed struct {
		loaded
		Comment bool `arg:"comment=True"`
	}
)

func which(c *loader.Call, name string) (string, error) {
	paths, _ := environ.Of(c.Ctx).Get("PATH")
	found := program.WhichOn(paths, name)
	if found == "" {
		return "", loader.ExecErr("Command '%s' cannot be found", name)
	}
	return found, nil
}

func checkAvailable(c *loader.Call, a named) (bool, error) {
	all, err := available(c, struct{}{})
	return slices.Contains(all, any(a.Mod)), err
}

func lsmod(c *loader.Call, _ struct{}) ([]any, error) {
	path, err := which(c, "lsmod")
	if err != nil {
		return nil, err
	}
	text, err := cmdmod.Run(c, []string{path}, nil)
	if err != nil {
		return nil, err
	}
	out := []any{}
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] == "Module" {
			continue
		}
		deps := []any{}
		if len(words) > 3 {
			deps = payload.AnyList(strings.Split(words[3], ","))
		}
		out = append(out, payload.M("size", words[1], "module", words[0], "depcount", words[2], "deps", deps))
	}
	return out, nil
}

// names are the loaded modules.
func names(c *loader.Call) ([]string, error) {
	all, err := lsmod(c, struct{}{})
	out := make([]string, len(all))
	for i, m := range all {
		out[i] = m.(*payload.Map).Str("module")
	}
	return out, err
}

func modList(c *loader.Call, a listed) ([]any, error) {
	list, err := names(c)
	if a.OnlyPersist {
		list, err = kept(c)
	}
	slices.Sort(list)
	return payload.AnyList(slices.Compact(list)), err
}

func isLoaded(c *loader.Call, a named) (bool, error) {
	all, err := names(c)
	return slices.Contains(all, a.Mod), err
}

// change runs a program on a module and gives which modules it loaded or unloaded, or its complaint.
func change(c *loader.Call, name, mod string) (changed []string, complaint string, err error) {
	words := strings.Fields(mod)
	if len(words) == 0 || strings.ContainsAny(mod, "\n\r") {
		return nil, "", loader.InvocErr("%s is no module of the kernel", python.Repr(mod))
	}
	if err := cmdmod.Operand(words...); err != nil {
		return nil, "", err
	}
	before, err := names(c)
	if err != nil {
		return nil, "", err
	}
	path, err := which(c, name)
	if err != nil {
		return nil, "", err
	}
	out, err := cmdmod.RunAll(c, append([]string{path}, words...), nil)
	if err != nil || out.Code != 0 {
		return nil, out.Stderr, err
	}
	after, err := names(c)
	if name == "rmmod" {
		before, after = after, before
	}
	return slices.DeleteFunc(after, func(m string) bool { return slices.Contains(before, m) }), "", err
}

// answer is the list of what changed, in order.
func answer(changed []string) any {
	slices.Sort(changed)
	return payload.AnyList(slices.Compact(changed))
}

func load(c *loader.Call, a loaded) (any, error) {
	changed, complaint, err := change(c, "modprobe", a.Mod)
	switch {
	case err != nil:
		return nil, err
	case complaint != "":
		return "Error loading module " + a.Mod + ": " + complaint, nil
	}
	if a.Persist {
		set, err := keep(c, a.Mod)
		if err != nil {
			return nil, err
		}
		changed = append(changed, set...)
	}
	return answer(changed), nil
}

func remove(c *loader.Call, a removed) (any, error) {
	changed, complaint, err := change(c, "rmmod", a.Mod)
	switch {
	case err != nil:
		return nil, err
	case complaint != "":
		return "Error removing module " + a.Mod + ": " + complaint, nil
	}
	if a.Persist {
		gone, err := drop(c, a.Mod, a.Comment)
		if err != nil {
			return nil, err
		}
		changed = append(changed, gone...)
	}
	return answer(changed), nil
}
