package saltutil

import (
	"strings"

	"brine/modules"
	"brine/wire/payload"
)

// kinds of modules that can be brought from a file server. There is nothing to bring here: the modules are part of
// the program, so every function answers as one that found nothing new.
type kind struct {
	name    string // function without "sync_"
	refresh any    // default of the parameter refresh; nil: there is none
	clean   bool   // has the parameter clean_pillar_cache
	after   func(c *modules.Call, a modules.Args)
	only    string // error for a minion with a master; "": any minion may
	what    string
}

func kinds() []kind {
	mods := func(c *modules.Call, _ modules.Args) { fireEvent(c, tagModules, payload.NewMap(0)) }
	pillar := func(c *modules.Call, a modules.Args) {
		fireEvent(c, tagPillar, payload.M("clean_cache", a.Bool("clean_pillar_cache")))
	}
	return []kind{
		{name: "beacons", refresh: true, what: "beacon", after: func(c *modules.Call, _ modules.Args) { fireEvent(c, tagBeacons, payload.NewMap(0)) }},
		{name: "clouds", refresh: true, after: mods, what: "cloud"},
		{name: "engines", refresh: false, after: mods, what: "engine"},
		{name: "executors", refresh: true, after: mods, what: "executor"},
		{name: "grains", refresh: true, clean: true, after: pillar, what: "grain"},
		{name: "log_handlers", refresh: true, after: mods, what: "log handler"},
		{name: "matchers", refresh: false, after: mods, what: "matcher"},
		{name: "modules", refresh: true, after: mods, what: "execution"},
		{name: "output", refresh: true, after: mods, what: "output"},
		{name: "outputters", refresh: true, after: mods, what: "output"},
		{name: "pillar", refresh: true, clean: true, after: pillar, what: "pillar", only: "Pillar modules can only be synced to masterless minions"},
		{name: "proxymodules", refresh: false, after: mods, what: "proxy"},
		{name: "renderers", refresh: true, after: mods, what: "renderer"},
		{name: "resources", refresh: true, what: "resource", after: func(c *modules.Call, _ modules.Args) { fireEvent(c, tagResources, payload.NewMap(0)) }},
		{name: "returners", refresh: true, after: mods, what: "returner"},
		{name: "sdb", what: "sdb"},
		{name: "serializers", refresh: true, after: mods, what: "serializer"},
		{name: "states", refresh: true, after: mods, what: "state"},
		{name: "thorium", refresh: false, after: mods, what: "thorium"},
		{name: "tops", refresh: true, after: func(*modules.Call, modules.Args) {}, what: "master top", only: "Master top modules can only be synced to masterless minions"},
		{name: "utils", refresh: true, after: mods, what: "utility"},
		{name: "wrapper", refresh: true, after: mods, what: "salt-ssh wrapper", only: "Wrapper modules can only be synced to masterless minions"},
	}
}

func syncFunctions() []modules.Func {
	out := []modules.Func{{Name: "saltutil.sync_all", Params: syncParams(kind{refresh: true, clean: true}), Run: syncAll,
		Doc: `Bring all kinds of modules from the file server.

CLI Example:

    salt '*' saltutil.sync_all`}}
	for _, k := range kinds() {
		name := "saltutil.sync_" + k.name
		pyName := ""
		if k.name == "outputters" {
			pyName = "sync_output"
		}
		out = append(out, modules.Func{Name: name, PyName: pyName, Params: syncParams(k), Run: k.run,
			Doc: "Bring " + k.what + " modules from the file server.\n\nCLI Example:\n\n    salt '*' " + name})
	}
	return out
}

func syncParams(k kind) []modules.Param {
	out := []modules.Param{modules.Opt("saltenv", nil)}
	if k.refresh != nil {
		out = append(out, modules.Opt("refresh", k.refresh))
	}
	out = append(out, modules.Opt("extmod_whitelist", nil), modules.Opt("extmod_blacklist", nil))
	if k.clean {
		out = append(out, modules.Opt("clean_pillar_cache", false))
	}
	return out
}

func (k kind) run(c *modules.Call, a modules.Args) (any, error) {
	if k.only != "" && c.Opts().Str("file_client") != "local" {
		return nil, modules.ExecErr("%s", k.only)
	}
	if k.name == "grains" {
		clearGrainsCache(c)
	}
	if k.after != nil && a.Bool("refresh") {
		k.after(c, a)
	}
	return []any{}, nil
}

// syncOrder is the order of keys in the result of sync_all; the ones in parentheses are for masterless minions.
const syncOrder = "(tops) clouds beacons modules states sdb grains renderers returners output utils log_handlers executors " +
	"proxymodules engines thorium serializers matchers resources (pillar) (wrapper)"

func syncAll(c *modules.Call, a modules.Args) (any, error) {
	masterless := c.Opts().Str("file_client") == "local"
	out := payload.NewMap(21)
	for _, name := range strings.Fields(syncOrder) {
		if name[0] != '(' {
			out.Set(name, []any{})
		} else if masterless {
			out.Set(strings.Trim(name, "()"), []any{})
		}
	}
	clearGrainsCache(c)
	if a.Bool("refresh") {
		fireEvent(c, tagPillar, payload.M("clean_cache", a.Bool("clean_pillar_cache")))
	}
	return out, nil
}
