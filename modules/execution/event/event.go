// Package event is the execution module event: a minion sends events, on its own bus or to its master. It answers to
// salt/modules/event.py.
package event

import (
	"fmt"
	"log/slog"
	"strings"

	"brine/modules/host/environ"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module event.
func Module() loader.Module {
	return loader.Module{File: "event", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("fire_master", fireMaster, "Fire an event on the master's event bus.",
				`event.fire_master '{"data":"my event data"}' 'tag'`),
			loader.Fn("fire", fireLocal, "Fire an event on the minion's own event bus.",
				`event.fire '{"data":"my event data"}' 'tag'`),
			loader.Fn("send", send,
				"Send an event with data, keywords and, when asked for, environment, grains or pillar to the master.",
				"salt-call event.send myco/mytag foo=Foo bar=Bar",
				"salt-call event.send 'myco/mytag' '{foo: Foo, bar: Bar}'"),
		}
	}}
}

// masterless tells whether the minion works without a master, where nothing is sent to one.
func masterless(c *loader.Call) bool {
	opts := c.Opts()
	return (python.Truth(opts.Value("local")) || opts.Str("file_client") == "local") &&
		!python.Truth(opts.Value("use_master_when_local"))
}

type forMaster struct {
	Data    any          `arg:"data"`
	Tag     string       `arg:"tag"`
	Preload *payload.Map `arg:"preload=None"`
}

func fireMaster(c *loader.Call, a forMaster) (bool, error) {
	return toMaster(c, a.Tag, a.Data, a.Preload), nil
}

func toMaster(c *loader.Call, tag string, data any, preload *payload.Map) bool {
	if masterless(c) {
		c.Log(slog.LevelWarn, fmt.Sprintf("Local mode detected. Event with tag %s will NOT be sent.", tag))
		return false
	}
	events := c.Host().Events
	return events != nil && events.FireMaster(c.Ctx, tag, data, preload)
}

type forMinion struct {
	Data any    `arg:"data"`
	Tag  string `arg:"tag"`
}

func fireLocal(c *loader.Call, a forMinion) (bool, error) {
	data, ok := a.Data.(*payload.Map)
	if !ok { // Salt's ends in an exception that nobody sees
		return false, nil
	}
	return onOwnBus(c, a.Tag, data), nil
}

func onOwnBus(c *loader.Call, tag string, data any) bool {
	events := c.Host().Events
	return events != nil && events.FireLocal(c.Ctx, tag, data)
}

type sent struct {
	Tag         string       `arg:"tag"`
	Data        *payload.Map `arg:"data=None"`
	Preload     *payload.Map `arg:"preload=None"`
	WithEnv     any          `arg:"with_env=False"`
	WithGrains  any          `arg:"with_grains=False"`
	WithPillar  any          `arg:"with_pillar=False"`
	WithEnvOpts bool         `arg:"with_env_opts=False"`
	KW          *payload.Map `arg:"**kwargs"`
}

func send(c *loader.Call, a sent) (bool, error) {
	data := payload.NewMap(0)
	if python.Truth(a.WithEnv) {
		data.Set("environ", subset(a.WithEnv, variables(c)))
	}
	if python.Truth(a.WithGrains) {
		data.Set("grains", subset(a.WithGrains, c.Grains()))
	}
	if python.Truth(a.WithPillar) {
		data.Set("pillar", subset(a.WithPillar, c.Pillar()))
	}
	if a.WithEnvOpts {
		env := c.Opts().Value("saltenv")
		if !c.Opts().Has("saltenv") {
			env = "base"
		}
		data.Set("saltenv", env).Set("pillarenv", c.Opts().Value("pillarenv"))
	}
	data.Update(a.KW)
	data.Update(a.Data)
	disabled := c.Opts().Str("master_type") == "disable" && !python.Truth(c.Opts().Value("use_master_when_local"))
	if disabled || masterless(c) {
		return onOwnBus(c, a.Tag, data), nil
	}
	return toMaster(c, a.Tag, data, a.Preload), nil
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
