package saltutil

import (
	"log/slog"
	"strings"

	"brine/modules/fileclient"
	"brine/modules/loader"
	"brine/wire/payload"
)

// kind of modules in Python that can be brought from a file server into extension_modules, for programs of Salt on this
// machine: the modules of brine are part of the program.
type kind struct {
	name  string // function without "sync_"
	form  string // folder below extension_modules; "": name
	what  string
	only  string                           // error for a minion with a master; "": any minion may
	after func(c *loader.Call, clean bool) // fires what makes the minion load them; nil: nothing
	fn    func(kind) loader.Func
}

// wanted says what is brought, and whether the minion loads it then.
type wanted struct {
	saltenv, whitelist, blacklist any
	refresh, clean                bool
}

// The arguments of the functions differ in refresh, which is on, off or none, and in clean_pillar_cache.
type (
	source struct {
		Saltenv any `arg:"saltenv=None"`
	}
	chosen struct {
		Whitelist any `arg:"extmod_whitelist=None"`
		Blacklist any `arg:"extmod_blacklist=None"`
	}
	loaded struct {
		source
		Refresh bool `arg:"refresh=True"`
		chosen
	}
	cleaned struct {
		loaded
		Clean bool `arg:"clean_pillar_cache=False"`
	}
	laid struct {
		source
		Refresh bool `arg:"refresh=False"`
		chosen
	}
	bare struct {
		source
		chosen
	}
)

func (a bare) wanted() wanted {
	return wanted{saltenv: a.Saltenv, whitelist: a.Whitelist, blacklist: a.Blacklist}
}

func (a loaded) wanted() wanted {
	w := bare{a.source, a.chosen}.wanted()
	w.refresh = a.Refresh
	return w
}

func (a laid) wanted() wanted { return loaded(a).wanted() }

func (a cleaned) wanted() wanted {
	w := a.loaded.wanted()
	w.clean = a.Clean
	return w
}

// syncs is the function for a kind; A are its arguments.
func syncs[A interface{ wanted() wanted }](k kind) loader.Func {
	name := "sync_" + k.name
	run := func(c *loader.Call, a A) (any, error) { return k.run(c, a.wanted()) }
	return loader.Fn(name, run, "Bring "+k.what+" modules from the file server.", "saltutil."+name)
}

// fires makes an after that fires an event without data.
func fires(tag string) func(*loader.Call, bool) {
	return func(c *loader.Call, _ bool) { fireEvent(c, tag, payload.NewMap(0)) }
}

func firePillar(c *loader.Call, clean bool) { fireEvent(c, tagPillar, payload.M("clean_cache", clean)) }

func kinds() []kind {
	mods := fires(tagModules)
	return []kind{
		{name: "beacons", fn: syncs[loaded], after: fires(tagBeacons), what: "beacon"},
		{name: "clouds", fn: syncs[loaded], after: mods, what: "cloud"},
		{name: "engines", fn: syncs[laid], after: mods, what: "engine"},
		{name: "executors", fn: syncs[loaded], after: mods, what: "executor"},
		{name: "grains", fn: syncs[cleaned], after: firePillar, what: "grain"},
		{name: "log_handlers", fn: syncs[loaded], after: mods, what: "log handler"},
		{name: "matchers", fn: syncs[laid], after: mods, what: "matcher"},
		{name: "modules", fn: syncs[loaded], after: mods, what: "execution"},
		{name: "output", fn: syncs[loaded], after: mods, what: "output"},
		{name: "outputters", form: "output", fn: syncs[loaded], after: mods, what: "output"},
		{name: "pillar", fn: syncs[cleaned], after: firePillar, what: "pillar",
			only: "Pillar modules can only be synced to masterless minions"},
		{name: "proxymodules", form: "proxy", fn: syncs[laid], after: mods, what: "proxy"},
		{name: "renderers", fn: syncs[loaded], after: mods, what: "renderer"},
		{name: "resources", fn: syncs[loaded], after: fires(tagResources), what: "resource"},
		{name: "returners", fn: syncs[loaded], after: mods, what: "returner"},
		{name: "sdb", fn: syncs[bare], what: "sdb"},
		{name: "serializers", fn: syncs[loaded], after: mods, what: "serializer"},
		{name: "states", fn: syncs[loaded], after: mods, what: "state"},
		{name: "thorium", fn: syncs[laid], after: mods, what: "thorium"},
		{name: "tops", fn: syncs[loaded], what: "master top",
			only: "Master top modules can only be synced to masterless minions"},
		{name: "utils", fn: syncs[loaded], after: mods, what: "utility"},
		{name: "wrapper", fn: syncs[loaded], after: mods, what: "salt-ssh wrapper",
			only: "Wrapper modules can only be synced to masterless minions"},
	}
}

func syncFunctions() []loader.Func {
	out := []loader.Func{
		loader.Fn("sync_all", syncAll, "Bring all kinds of modules from the file server.", "saltutil.sync_all"),
	}
	for _, k := range kinds() {
		f := k.fn(k)
		if k.name == "outputters" {
			f = f.Named("sync_output")
		}
		out = append(out, f)
	}
	return out
}

func (k kind) run(c *loader.Call, w wanted) (any, error) {
	if k.only != "" && c.Opts().Str("file_client") != "local" {
		return nil, loader.ExecErr("%s", k.only)
	}
	changed, err := k.sync(c, w)
	if err != nil {
		return nil, err
	}
	if k.name == "grains" {
		clearGrainsCache(c)
	}
	if k.after != nil && w.refresh {
		k.after(c, w.clean)
	}
	return changed, nil
}

// sync brings what is new. Unlike Salt: without saltenv from base, and not from the environments that the top file
// names.
func (k kind) sync(c *loader.Call, w wanted) ([]any, error) {
	client, err := fileclient.For(c)
	if client == nil {
		return nil, err
	}
	form := k.form
	if form == "" {
		form = k.name
	}
	envs := loader.StringList(w.saltenv)
	if len(envs) == 0 {
		envs = []string{"base"}
	}
	changed := client.SyncModules(c.Ctx, fileclient.SyncOf(c.Opts(), form, envs, w.whitelist, w.blacklist))
	if len(changed) > 0 {
		c.Log(slog.LevelWarn, "brine cannot load modules in Python, only programs of Salt on this machine can: "+
			strings.Join(payload.Texts(changed), ", "))
	}
	return changed, nil
}

// syncOrder is the order of keys in the result of sync_all; the ones in parentheses are for masterless minions.
const syncOrder = "(tops) clouds beacons modules states sdb grains renderers returners output utils log_handlers " +
	"executors proxymodules engines thorium serializers matchers resources (pillar) (wrapper)"

func syncAll(c *loader.Call, a cleaned) (*payload.Map, error) {
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
		changed, err := all[name].sync(c, a.wanted())
		if err != nil {
			return nil, err
		}
		out.Set(name, changed)
	}
	clearGrainsCache(c)
	if a.Refresh {
		firePillar(c, a.Clean)
	}
	return out, nil
}
