// Package saltutil is the state module saltutil: states that fetch modules of Python from the file server. Answers to
// salt/states/saltutil.py.
package saltutil

import (
	"log/slog"
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// kinds are those of modules that can be fetched.
const kinds = "beacons clouds engines grains executors log_handlers modules output outputters pillar proxymodules matchers " +
	"renderers returners sdb states tops resources thorium utils serializers wrapper"

// Module is the state module saltutil.
func Module() loader.Module {
	return loader.Module{File: "saltutil", Virtual: loader.Always, Funcs: func() []loader.Func {
		out := []loader.Func{states.Fn("sync_all", syncAll, "Fetch modules of all kinds.", "sync_everything:",
			"  saltutil.sync_all:", "    - refresh: True")}
		for kind := range strings.FieldsSeq(kinds) {
			plan := func(c *states.Call, a syncing) (states.Plan, error) { return syncOne(c, kind, a.KW) }
			out = append(out, states.Fn("sync_"+kind, plan, "Fetch modules of the kind "+kind+"."))
		}
		return out
	}}
}

type syncing struct {
	Name any          `arg:"name"`
	KW   *payload.Map `arg:"**kwargs"`
}

const nothingNew = "No updates to sync"

func syncOne(c *states.Call, kind string, kw *payload.Map) (states.Plan, error) {
	return fetched(c, "sync_"+kind, kw, func(v any) (states.Done, error) {
		if !python.Truth(v) {
			return states.Changed(nothingNew, nil)
		}
		return states.Changed("Updated "+kind+".", payload.M(kind, v))
	}), nil
}

func syncAll(c *states.Call, a syncing) (states.Plan, error) {
	return fetched(c, "sync_all", a.KW, func(v any) (states.Done, error) {
		changes := payload.NewMap(0)
		all, _ := v.(*payload.Map)
		for kind, list := range all.All() {
			if python.Truth(list) {
				changes.Set(kind, list)
			}
		}
		if changes.Len() == 0 {
			return states.Changed(nothingNew, nil)
		}
		return states.Changed("Sync performed", changes)
	}), nil
}

// fetched is the plan of a state that calls a function of the execution module.
func fetched(c *states.Call, fun string, kw *payload.Map, told func(v any) (states.Done, error)) states.Plan {
	return states.Would("saltutil."+fun+" would have been run", nil, func() (states.Done, error) {
		v, err := c.Salt("saltutil."+fun, kw)
		if err == nil {
			return told(v)
		}
		if c.Ctx.Err() != nil {
			return states.Done{}, err
		}
		text := loader.Message(err)
		if !c.Has("saltutil." + fun) { // Unlike Salt, which tells a KeyError
			text = c.Registry().MissingText("saltutil." + fun)
		}
		c.Log(slog.LevelError, "Failed to run saltutil."+fun+": "+text)
		return states.Failed("Failed to run "+fun+": "+text, nil)
	})
}
