package state

import (
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// switching are the functions that keep states from being applied.
func switching() []loader.Func {
	return []loader.Func{
		loader.Fn("disable", disable, "Keep SLS files, the highstate or state functions from being applied.",
			"state.disable highstate", "state.disable highstate,test.succeed_without_changes", "state.disable bind.config"),
		loader.Fn("enable", enable, "Let what was disabled be applied again.", "state.enable highstate",
			"state.enable test.succeed_without_changes"),
		loader.Fn("list_disabled", listDisabled, "List the states that are disabled.", "state.list_disabled"),
	}
}

type ofStates struct {
	States any `arg:"states"`
}

// disabledNames is what state.disable has kept in the grains.
func disabledNames(c *loader.Call) []any {
	v, _ := c.Grain(disabledGrain)
	list, _ := v.([]any)
	return slices.Clone(list)
}

func disable(c *loader.Call, a ofStates) (*payload.Map, error) {
	return a.change(c, func(list []any, name any, has bool) ([]any, string) {
		if has {
			return list, "already disabled"
		}
		return append(list, name), "disabled"
	})
}

func enable(c *loader.Call, a ofStates) (*payload.Map, error) {
	return a.change(c, func(list []any, name any, has bool) ([]any, string) {
		if !has {
			return list, "already enabled"
		}
		at := slices.Index(list, name)
		return slices.Delete(list, at, at+1), "enabled"
	})
}

// change changes the list of disabled states for each name, and tells what it did.
func (a ofStates) change(c *loader.Call, do func(list []any, name any, has bool) ([]any, string)) (*payload.Map,
	error) {
	list := disabledNames(c)
	before := len(list)
	var lines []string
	for _, name := range splitInput(a.States) {
		var did string
		list, did = do(list, name, slices.Contains(list, name))
		lines = append(lines, "Info: "+python.Str(name)+" state "+did+".")
	}
	if len(list) != before {
		if list == nil {
			list = []any{}
		}
		if _, err := c.Call("grains.setval", []any{disabledGrain, list}, nil); err != nil {
			return nil, err
		}
	}
	return payload.M("res", true, "msg", strings.Join(lines, "\n")), nil
}

// disabledSLS tells which of SLS files are disabled, in Salt's words. Source: _disabled of salt/modules/state.py.
func disabledSLS(c *loader.Call, names []any) (out []string) {
	for _, v := range names {
		name := python.Str(v)
		for _, pattern := range payload.Texts(disabledNames(c)) {
			if before, _, isGlob := strings.Cut(pattern, ".*"); isGlob {
				before, _, _ = strings.Cut(before, ".")
				if strings.HasPrefix(name, before+".") {
					out = append(out, `The state file "`+name+`" is currently disabled by "`+pattern+
						`", to re-enable, run state.enable `+pattern+".")
				}
			} else if pattern == name {
				out = append(out, `The state file "`+name+`" is currently disabled, to re-enable, run state.enable `+name+".")
			}
		}
	}
	return out
}
