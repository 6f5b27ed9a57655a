// Package saltutil is the runner module saltutil: it brings modules in Python from the file server into
// extension_modules, for those programs of Salt on this machine that load them: nothing here does. Answers to
// salt/runners/saltutil.py.
package saltutil

import (
	"context"

	"brine/modules/fileclient"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
)

// synced are the kinds of modules that saltutil.sync_all brings, in its order: the key of its answer, the folder below
// extension_modules, and the function where its name is not that of the key.
var synced = [...]struct{ key, form, fun string }{
	{"clouds", "clouds", ""}, {"modules", "modules", ""}, {"states", "states", ""}, {"grains", "grains", ""},
	{"renderers", "renderers", ""}, {"returners", "returners", ""}, {"output", "output", ""},
	{"proxymodules", "proxy", ""}, {"runners", "runners", ""}, {"wheel", "wheel", ""},
	{"engines", "engines", ""}, {"thorium", "thorium", ""}, {"queues", "queues", ""}, {"pillar", "pillar", ""},
	{"utils", "utils", ""}, {"sdb", "sdb", ""}, {"cache", "cache", ""}, {"fileserver", "fileserver", ""},
	{"tops", "tops", ""}, {"tokens", "tokens", "eauth_tokens"}, {"serializers", "serializers", ""},
	{"executors", "executors", ""}, {"wrapper", "wrapper", ""}, {"roster", "roster", ""},
}

// Module is the module saltutil.
func Module(o runners.Options) loader.Module {
	m := &master{o.Files}
	return loader.Module{File: "saltutil", Virtual: loader.Always, Funcs: func() []loader.Func {
		const where = " from the file server, for Salt's own programs on this machine."
		funcs := []loader.Func{loader.Fn("sync_all", m.syncAll, "Bring all kinds of modules"+where,
			"salt-run saltutil.sync_all")}
		for _, kind := range synced {
			name := "sync_" + kind.key
			if kind.fun != "" {
				name = "sync_" + kind.fun
			}
			sync := func(c *loader.Call, a wanted) ([]any, error) { return m.sync(c, a, kind.form) }
			funcs = append(funcs, loader.Fn(name, sync, "Bring modules of the kind "+kind.key+where,
				"salt-run saltutil."+name))
		}
		return funcs
	}}
}

// master serves the files.
type master struct{ files runners.Files }

type wanted struct {
	Saltenv   any `arg:"saltenv=base"`
	Whitelist any `arg:"extmod_whitelist=None"`
	Blacklist any `arg:"extmod_blacklist=None"`
}

func (m *master) syncAll(c *loader.Call, a wanted) (*payload.Map, error) {
	out := payload.NewMap(len(synced))
	for _, kind := range synced {
		names, err := m.sync(c, a, kind.form)
		if err != nil {
			return nil, err
		}
		out.Set(kind.key, names)
	}
	return out, nil
}

// sync brings one kind, and returns the names of what is new or another, each as FORM.NAME.
func (m *master) sync(c *loader.Call, a wanted, form string) ([]any, error) {
	if m.files == nil {
		return nil, runners.Unavailable("file server")
	}
	opts := c.Opts()
	ask := func(_ context.Context, load *payload.Map) (any, error) { return m.files.Answer(load.Str("cmd"), load) }
	client := fileclient.New(fileclient.Options{CacheDir: opts.Str("cachedir"), HashType: opts.Str("hash_type"),
		Log: c.Log, Ask: ask})
	what := fileclient.SyncOf(opts, form, runners.ListOf(a.Saltenv), a.Whitelist, a.Blacklist)
	return client.SyncModules(c.Ctx, what), nil
}
