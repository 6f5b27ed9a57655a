package saltutil

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Tags of the minion's bus: what asks for a renewal, and what tells that it is done (salt/defaults/events.py).
const (
	tagModules         = "module_refresh"
	tagPillar          = "pillar_refresh"
	tagBeacons         = "beacons_refresh"
	tagMatchers        = "matchers_refresh"
	tagResources       = "resource_refresh"
	tagPillarComplete  = "/salt/minion/minion_pillar_refresh_complete"
	tagModulesComplete = "/salt/minion/minion_mod_refresh_complete"
)

// modulesWait is how long refresh_modules async=False waits.
const modulesWait = 30 * time.Second

func refreshFunctions() []loader.Func {
	return []loader.Func{
		loader.Fn("refresh_grains", refreshGrains,
			"Compute the grains again; the pillar too, unless refresh_pillar=False.", "saltutil.refresh_grains"),
		loader.Fn("refresh_pillar", refreshPillar, "Fetch the pillar again; wait=True waits for it.",
			"saltutil.refresh_pillar", "saltutil.refresh_pillar wait=True timeout=60"),
		loader.Fn("pillar_refresh", refreshPillar, "The same as saltutil.refresh_pillar.", "saltutil.pillar_refresh").
			Named("refresh_pillar"),
		loader.Fn("refresh_modules", refreshModules, "Load the modules again; async=False waits for it.",
			"saltutil.refresh_modules"),
		loader.Fn("refresh_beacons", fire(tagBeacons), "Load the beacons again.", "saltutil.refresh_beacons"),
		loader.Fn("refresh_matchers", fire(tagMatchers), "Load the matchers again.", "saltutil.refresh_matchers"),
		loader.Fn("refresh_resources", fire(tagResources), "Find the managed resources again.",
			"saltutil.refresh_resources"),
	}
}

// fire makes a function that only fires an event.
func fire(tag string) func(*loader.Call, struct{}) (bool, error) {
	return func(c *loader.Call, _ struct{}) (bool, error) { return fireEvent(c, tag, payload.NewMap(0)), nil }
}

func fireEvent(c *loader.Call, tag string, data *payload.Map) bool {
	events := c.Host().Events
	return events != nil && events.FireLocal(c.Ctx, tag, data)
}

// keywords are options that Salt takes by name alone.
type keywords struct {
	KW *payload.Map `arg:"**kwargs"`
}

func refreshGrains(c *loader.Call, a keywords) (any, error) {
	kw := loader.CleanKWArgs(a.KW)
	pillar, clean := true, false
	if v, ok := kw.Get("refresh_pillar"); ok {
		pillar = python.Truth(v)
		kw.Delete("refresh_pillar")
	}
	if v, ok := kw.Get("clean_pillar_cache"); ok {
		clean = python.Truth(v)
		kw.Delete("clean_pillar_cache")
	}
	if kw.Len() > 0 {
		var invalid []string
		for k, v := range kw.All() {
			invalid = append(invalid, python.Str(k)+"="+python.Str(v))
		}
		return nil, loader.InvalidKeywords(invalid)
	}
	clearGrainsCache(c)
	if pillar {
		fireEvent(c, tagPillar, payload.M("clean_cache", clean))
	} else {
		fireEvent(c, tagModules, payload.NewMap(0))
	}
	return true, nil
}

// clearGrainsCache removes the file that would bring the old grains back.
func clearGrainsCache(c *loader.Call) {
	if !python.Truth(c.Opts().Value("grains_cache")) {
		return
	}
	path := filepath.Join(c.Opts().Str("cachedir"), "grains.cache.p")
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		c.Log(slog.LevelError, "Could not remove grains cache!")
	}
}

// pillarRefresh says how the pillar is fetched again.
type pillarRefresh struct {
	Wait       bool `arg:"wait=False"`
	Timeout    any  `arg:"timeout=30"`
	CleanCache any  `arg:"clean_cache=True"`
}

func refreshPillar(c *loader.Call, a pillarRefresh) (bool, error) {
	data := payload.M("clean_cache", a.CleanCache)
	if !a.Wait {
		return fireEvent(c, tagPillar, data), nil
	}
	seconds, _ := python.Number(a.Timeout)
	answer, fired := await(c, tagPillar, data, tagPillarComplete, time.Duration(seconds*float64(time.Second)))
	if complete, told := answer.Get("complete"); answer == nil || told && !python.Truth(complete) {
		c.Log(slog.LevelWarn,
			fmt.Sprintf("Pillar refresh did not complete within timeout %s", python.Str(a.Timeout)))
	}
	return fired, nil
}

// await fires an event and waits for another; a nil answer means that it did not come.
func await(c *loader.Call, tag string, data *payload.Map, answer string, limit time.Duration) (*payload.Map, bool) {
	events := c.Host().Events
	if events == nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(c.Ctx, limit)
	defer cancel()
	got, ok := events.AwaitLocal(ctx, tag, data, answer)
	if !ok {
		return nil, ctx.Err() != nil // the event was sent, only the answer is missing
	}
	if got == nil {
		got = payload.NewMap(0)
	}
	return got, true
}

func refreshModules(c *loader.Call, a keywords) (bool, error) {
	if v, ok := a.KW.Get("async"); !ok || python.Truth(v) {
		return fireEvent(c, tagModules, payload.NewMap(0)), nil
	}
	_, fired := await(c, tagModules, payload.M("notify", true), tagModulesComplete, modulesWait)
	return fired, nil
}
