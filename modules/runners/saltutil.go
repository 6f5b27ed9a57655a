package runners

import (
	"context"

	"brine/modules/fileclient"
	"brine/modules/loader"
	"brine/wire/payload"
)

// synced are the kinds of modules that saltutil.sync_all brings, in its order: the key of its answer, the folder below
// extension_modules, and the function where its name is not that of the key.
var synced = [...]struct{ key, form, fun string }{
	{"clouds", "clouds", ""}, {"modules", "modules", ""}, {"states", "states", ""}, {"grains", "grains", ""}, {"renderers", "renderers", ""},
	{"returners", "returners", ""}, {"output", "output", ""}, {"proxymodules", "proxy", ""}, {"runners", "runners", ""}, {"wheel", "wheel", ""},
	{"engines", "engines", ""}, {"thorium", "thorium", ""}, {"queues", "queues", ""}, {"pillar", "pillar", ""}, {"utils", "utils", ""},
	{"sdb", "sdb", ""}, {"cache", "cache", ""}, {"fileserver", "fileserver", ""}, {"tops", "tops", ""}, {"tokens", "tokens", "eauth_tokens"},
	{"serializers", "serializers", ""}, {"executors", "executors", ""}, {"wrapper", "wrapper", ""}, {"roster", "roster", ""},
}

// saltutilFuncs bring modules in Python from the file server into extension_modules, for those programs of Salt on this machine
// that load them: nothing here does.
func (r *runner) saltutilFuncs() []loader.Func {
	params := []loader.Param{loader.Opt("saltenv", "base"), loader.Opt("extmod_whitelist", nil), loader.Opt("extmod_blacklist", nil)}
	funcs := []loader.Func{{Name: "saltutil.sync_all", Run: func(c *loader.Call, a loader.Args) (any, error) {
		out := payload.NewMap(len(synced))
		for _, kind := range synced {
			names, err := r.sync(c, a, kind.form)
			if err != nil {
				return nil, err
			}
			out.Set(kind.key, names)
		}
		return out, nil
	}, Doc: "Bring all kinds of modules from the file server, for Salt's own programs on this machine.\n\nCLI Example:\n\n    salt-run saltutil.sync_all"}}
	for _, kind := range synced {
		name := "saltutil.sync_" + kind.key
		if kind.fun != "" {
			name = "saltutil.sync_" + kind.fun
		}
		funcs = append(funcs, loader.Func{Name: name, Run: func(c *loader.Call, a loader.Args) (any, error) { return r.sync(c, a, kind.form) },
			Doc: "Bring modules of the kind " + kind.key + " from the file server, for Salt's own programs on this machine.\n\nCLI Example:\n\n    salt-run " + name})
	}
	for i := range funcs {
		funcs[i].Source, funcs[i].Params = "salt/runners/saltutil.py", params
	}
	return funcs
}

// sync brings one kind, and returns the names of what is new or another, each as FORM.NAME.
func (r *runner) sync(c *loader.Call, a loader.Args, form string) (any, error) {
	if r.Files == nil {
		return nil, unavailable("file server")
	}
	client := fileclient.New(fileclient.Options{CacheDir: c.Opts().Str("cachedir"), HashType: c.Opts().Str("hash_type"), Log: c.Log,
		Ask: func(_ context.Context, load *payload.Map) (any, error) { return r.Files.Answer(load.Str("cmd"), load) }})
	return client.SyncModules(c.Ctx, fileclient.SyncOf(c.Opts(), form, listOf(a.Get("saltenv")), a.Get("extmod_whitelist"), a.Get("extmod_blacklist"))), nil
}
