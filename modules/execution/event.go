package execution

import (
	"fmt"
	"log/slog"
	"strings"

	"brine/modules/host/environ"
	"brine/modules/loader"
	"brine/wire/payload"
)

func eventFunctions() []loader.Func {
	return sourced("salt/modules/event.py", []loader.Func{
		{Name: "event.fire_master", Params: []loader.Param{loader.Req("data"), loader.Req("tag"), loader.Opt("preload", nil)},
			Run: fireMaster, Doc: `Fire an event on the master's event bus.

CLI Example:

    salt '*' event.fire_master '{"data":"my event data"}' 'tag'`},
		{Name: "event.fire", Params: []loader.Param{loader.Req("data"), loader.Req("tag")}, Run: fireLocal,
			Doc: `Fire an event on the minion's own event bus.

CLI Example:

    salt '*' event.fire '{"data":"my event data"}' 'tag'`},
		{Name: "event.send", Params: []loader.Param{loader.Req("tag"), loader.Opt("data", nil), loader.Opt("preload", nil),
			loader.Opt("with_env", false), loader.Opt("with_grains", false), loader.Opt("with_pillar", false),
			loader.Opt("with_env_opts", false)}, KWArgs: true, Run: sendEvent,
			Doc: `Send an event with data, keywords and, when asked for, environment, grains or pillar to the master.

CLI Example:

    salt-call event.send myco/mytag foo=Foo bar=Bar
    salt-call event.send 'myco/mytag' '{foo: Foo, bar: Bar}'`},
	})
}

// masterless tells whether the minion works without a master, where nothing is sent to one.
func masterless(c *loader.Call) bool {
	opts := c.Opts()
	return (loader.Truthy(opts.Value("local")) || opts.Str("file_client") == "local") &&
		!loader.Truthy(opts.Value("use_master_when_local"))
}

func fireMaster(c *loader.Call, a loader.Args) (any, error) {
	preload, _ := a.Get("preload").(*payload.Map)
	return toMaster(c, a.Str("tag"), a.Get("data"), preload), nil
}

func toMaster(c *loader.Call, tag string, data any, preload *payload.Map) bool {
	if masterless(c) {
		c.Log(slog.LevelWarn, fmt.Sprintf("Local mode detected. Event with tag %s will NOT be sent.", tag))
		return false
	}
	events := c.Host().Events
	return events != nil && events.FireMaster(c.Ctx, tag, data, preload)
}

func fireLocal(c *loader.Call, a loader.Args) (any, error) {
	data, ok := a.Get("data").(*payload.Map)
	if !ok { // Salt's ends in an exception that nobody sees
		return false, nil
	}
	return onOwnBus(c, a.Str("tag"), data), nil
}

func onOwnBus(c *loader.Call, tag string, data any) bool {
	events := c.Host().Events
	return events != nil && events.FireLocal(c.Ctx, tag, data)
}

func sendEvent(c *loader.Call, a loader.Args) (any, error) {
	data := payload.NewMap(0)
	if with := a.Get("with_env"); loader.Truthy(with) {
		data.Set("environ", subset(with, variables(c)))
	}
	if with := a.Get("with_grains"); loader.Truthy(with) {
		data.Set("grains", subset(with, c.Grains()))
	}
	if with := a.Get("with_pillar"); loader.Truthy(with) {
		data.Set("pillar", subset(with, c.Pillar()))
	}
	if loader.Truthy(a.Get("with_env_opts")) {
		env := c.Opts().Value("saltenv")
		if !c.Opts().Has("saltenv") {
			env = "base"
		}
		data.Set("saltenv", env).Set("pillarenv", c.Opts().Value("pillarenv"))
	}
	data.Update(a.KW)
	if more, ok := a.Get("data").(*payload.Map); ok {
		data.Update(more)
	}
	if masterless(c) || c.Opts().Str("master_type") == "disable" && !loader.Truthy(c.Opts().Value("use_master_when_local")) {
		return onOwnBus(c, a.Str("tag"), data), nil
	}
	preload, _ := a.Get("preload").(*payload.Map)
	return toMaster(c, a.Str("tag"), data, preload), nil
}

// subset is the whole map, or only the keys of a list.
func subset(with any, all *payload.Map) *payload.Map {
	names, ok := with.([]any)
	if !ok {
		return all
	}
	out := payload.NewMap(len(names))
	for k, v := range all.All() {
		for _, n := range names {
			if n == k {
				out.Set(k, v)
			}
		}
	}
	return out
}

// variables are those of the environment without the options that stand in it: these may be secrets of the minion.
func variables(c *loader.Call) *payload.Map {
	out := payload.NewMap(0)
	for _, pair := range environ.Of(c.Ctx).List() {
		name, value, _ := strings.Cut(pair, "=")
		out.Set(name, value)
	}
	return out
}

// sourced names the file the functions answer to.
func sourced(file string, funcs []loader.Func) []loader.Func {
	for i := range funcs {
		funcs[i].Source = file
	}
	return funcs
}
