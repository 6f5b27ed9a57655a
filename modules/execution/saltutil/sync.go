package saltutil

import (
	"log/slog"
	"strings"

	"brine/modules/fileclient"
	"brine/modules/loader"
	"brine/wire/payload"
)

// kind of modules in Python that can be brought from a file server into extension_modules, for programs of Salt on this machine: the
// modules of brine are part of the program.
type kind struct {
	name    string // function without "sync_"
	form    string // folder below extension_modules; "": name
	refresh any    // default of the parameter refresh; nil: there is none
	clean   bool   // has the parameter clean_pillar_cache
	after   func(c *loader.Call, a loader.Args)
	only    string // error for a minion with a master; "": any minion may
	what    string
}

func kinds() []kind {
	mods := func(c *loader.Call, _ loader.Args) { fireEvent(c, tagModules, payload.NewMap(0)) }
	pillar := func(c *loader.Call, a loader.Args) {
		fireEvent(c, tagPillar, payload.M("clean_cache", a.Bool("clean_pillar_cache")))
	}
	return []kind{
		{name: "beacons", refresh: true, what: "beacon", after: func(c *loader.Call, _ loader.Args) { fireEvent(c, tagBeacons, payload.NewMap(0)) }},
		{name: "clouds", refresh: true, after: mods, what: "cloud"},
		{name: "engines", refresh: false, after: mods, what: "engine"},
		{name: "executors", refresh: true, after: mods, what: "executor"},
		{name: "grains", refresh: true, clean: true, after: pillar, what: "grain"},
		{name: "log_handlers", refresh: true, after: mods, what: "log handler"},
		{name: "matchers", refresh: false, after: mods, what: "matcher"},
		{name: "modules", refresh: true, after: mods, what: "execution"},
		{name: "output", refresh: true, after: mods, what: "output"},
		{name: "outputters", form: "output", refresh: true, after: mods, what: "output"},
		{name: "pillar", refresh: true, clean: true, after: pillar, what: "pillar", only: "Pillar modules can only be synced to masterless minions"},
		{name: "proxymodules", form: "proxy", refresh: false, after: mods, what: "proxy"},
		{name: "renderers", refresh: true, after: mods, what: "renderer"},
		{name: "resources", refresh: true, what: "resource", after: func(c *loader.Call, _ loader.Args) { fireEvent(c, tagResources, payload.NewMap(0)) }},
		{name: "returners", refresh: true, after: mods, what: "returner"},
		{name: "sdb", what: "sdb"},
		{name: "serializers", refresh: true, after: mods, what: "serializer"},
		{name: "states", refresh: true, after: mods, what: "state"},
		{name: "thorium", refresh: false, after: mods, what: "thorium"},
		{name: "tops", refresh: true, after: func(*loader.Call, loader.Args) {}, what: "master top", only: "Master top modules can only be synced to masterless minions"},
		{name: "utils", refresh: true, after: mods, what: "utility"},
		{name: "wrapper", refresh: true, after: mods, what: "salt-ssh wrapper", only: "Wrapper modules can only be synced to masterless minions"},
	}
}

func syncFunctions() []loader.Func {
	out := []loader.Func{{Name: "saltutil.sync_all", Params: syncParams(kind{refresh: true, clean: true}), Run: syncAll,
		Doc: `Bring all kinds of modules from the file server.

CLI Example:

    salt '*' saltutil.sync_all`}}
	for _, k := range kinds() {
		name := "saltutil.sync_" + k.name
		pyName := ""
		if k.name == "outputters" {
			pyName = "sync_output"
		}
		out = append(out, loader.Func{Name: name, PyName: pyName, Params: syncParams(k), Run: k.run,
			Doc: "Bring " + k.what + " modules from the file server.\n\nCLI Example:\n\n    salt '*' " + name})
	}
	return out
}

func syncParams(k kind) []loader.Param {
	out := []loader.Param{loader.Opt("saltenv", nil)}
	if k.refresh != nil {
		out = append(out, loader.Opt("refresh", k.refresh))
	}
	out = append(out, loader.Opt("extmod_whitelist", nil), loader.Opt("extmod_blacklist", nil))
	if k.clean {
		out = append(out, loader.Opt("clean_pillar_cache", false))
	}
	return out
}

func (k kind) run(c *loader.Call, a loader.Args) (any, error) {
	if k.only != "" && c.Opts().Str("file_client") != "local" {
		return nil, loader.ExecErr("%s", k.only)
	}
	changed, err := k.sync(c, a)
	if err != nil {
		return nil, err
	}
	if k.name == "grains" {
		clearGrainsCache(c)
	}
	if k.after != nil && a.Bool("refresh") {
		k.after(c, a)
	}
	return changed, nil
}

// sync brings what is new. Unlike Salt: without saltenv from base, and not from the environments that the top file names.
func (k kind) sync(c *loader.Call, a loader.Args) ([]any, error) {
	client, err := fileclient.For(c)
	if client == nil {
		return nil, err
	}
	form := k.form
	if form == "" {
		form = k.name
	}
	envs := loader.StringList(a.Get("saltenv"))
	if len(envs) == 0 {
		envs = []string{"base"}
	}
	changed := client.SyncModules(c.Ctx, fileclient.SyncOf(c.Opts(), form, envs, a.Get("extmod_whitelist"), a.Get("extmod_blacklist")))
	if len(changed) > 0 {
		c.Log(slog.LevelWarn, "brine cannot load modules in Python, only programs of Salt on this machine can: "+strings.Join(payload.Texts(changed), ", "))
	}
	return changed, nil
}

// syncOrder is the order of keys in the result of sync_all; the ones in parentheses are for masterless minions.
const syncOrder = "(tops) clouds beacons modules states sdb grains renderers returners output utils log_handlers executors " +
	"proxymodules engines thorium serializers matchers resources (pillar) (wrapper)"

func syncAll(c *loader.Call, a loader.Args) (any, error) {
	masterless, all := c.Opts().Str("file_client") == "local", map[string]kind{}
	for _, k := range kinds() {
		all[k.name] = k
	}
	out := payload.NewMap(21)
	for _, word := range strings.Fields(syncOrder) {
		name := strings.Trim(word, "()")
		if word != name && !masterless {
			continue
		}
		changed, err := all[name].sync(c, a)
		if err != nil {
			return nil, err
		}
		out.Set(name, changed)
	}
	clearGrainsCache(c)
	if a.Bool("refresh") {
		fireEvent(c, tagPillar, payload.M("clean_cache", a.Bool("clean_pillar_cache")))
	}
	return out, nil
}
