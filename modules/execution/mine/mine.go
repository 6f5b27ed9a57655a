// Package mine is the execution module mine: a minion sends the results of functions to the mine and reads there what
// others sent. One without a master keeps a mine of its own. It answers to salt/modules/mine.py.
package mine

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"brine/modules/host/datastore"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/wire/payload"
	"brine/wire/python"
)

// Keys of an entry that not every minion may read (salt/utils/mine.py).
const (
	aclID      = "__saltmine_acl__"
	aclVersion = 1
	aclData    = "__data__"
)

const inStore = "mine_cache" // name of the mine in the data store of a minion without master

// Module is the module mine.
func Module() loader.Module {
	return loader.Module{File: "mine", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("update", update, "Run the functions of mine_functions and send their results to the mine.",
				"mine.update"),
			loader.Fn("send", send, "Run one function and send its result to the mine.",
				"mine.send network.ip_addrs interface=eth0",
				"mine.send eth0_ip_addrs mine_function=network.ip_addrs interface=eth0"),
			loader.Fn("get", get,
				"Get what minions sent to the mine: minion to value for one function, function to minion to value "+
					"for several.",
				"mine.get '*' network.interfaces",
				"mine.get 'os:Fedora' network.interfaces grain"),
			loader.Fn("delete", remove, "Remove one function of this minion from the mine.",
				"mine.delete 'network.interfaces'"),
			loader.Fn("flush", flush, "Remove everything of this minion from the mine.", "mine.flush"),
			loader.Fn("get_docker", getDocker, "Get the published ports of all containers in the mine, by image.",
				"salt-call mine.get_docker"),
			loader.Fn("valid", valid, "List the entries of mine_functions that can run here.", "mine.valid"),
		}
	}}
}

// function is one entry of mine_functions.
type function struct {
	alias, name string // name "": the alias is the function
	args        []any
	kw          *payload.Map
	acl         *payload.Map
	given       any // as configured
}

func (f function) runs() string {
	if f.name != "" {
		return f.name
	}
	return f.alias
}

// parse reads an entry: a map of keywords, or a list of arguments with maps of keywords among them.
func parse(alias string, def any) function {
	f := function{alias: alias, kw: payload.NewMap(0), acl: payload.NewMap(0), given: def}
	switch x := def.(type) {
	case *payload.Map:
		f.kw = x.Clone()
	case []any:
		for _, item := range x {
			if m, ok := item.(*payload.Map); ok {
				f.kw.Update(m)
			} else {
				f.args = append(f.args, item)
			}
		}
	}
	f.name = loader.Text(take(f.kw, "mine_function"))
	for _, key := range []string{"allow_tgt", "allow_tgt_type"} {
		if v := take(f.kw, key); python.Truth(v) {
			f.acl.Set(key, v)
		}
	}
	return f
}

// take removes a key and gives its value.
func take(m *payload.Map, key string) any {
	v := m.Value(key)
	m.Delete(key)
	return v
}

// entry is what goes into the mine: the value, or the value with who may read it.
func (f function) entry(value any) any {
	if !f.acl.Has("allow_tgt") {
		return value
	}
	m := payload.M(aclData, value, aclID, int64(aclVersion))
	m.Update(f.acl)
	return m
}

// configured lists the usable entries of mine_functions; ok is false where there are none at all.
func configured(c *loader.Call, given any) (funcs []function, ok bool) {
	if !python.Truth(given) {
		merged, err := c.Call("config.merge", []any{"mine_functions", payload.NewMap(0)}, nil)
		if err != nil || !python.Truth(merged) {
			return nil, false
		}
		given = merged
	}
	defs, ok := given.(*payload.Map)
	if list, isList := given.([]any); isList {
		defs, ok = payload.NewMap(len(list)), true
		for _, name := range list {
			defs.Set(name, payload.NewMap(0))
		}
	}
	for alias, def := range defs.All() {
		f := parse(python.Str(alias), def)
		if _, known := c.Registry().Lookup(f.runs()); !known {
			c.Log(slog.LevelError, fmt.Sprintf("Function %s in mine_functions not available", f.runs()))
			continue
		}
		funcs = append(funcs, f)
	}
	return funcs, ok
}

type updated struct {
	Clear     bool `arg:"clear=False"`
	Functions any  `arg:"mine_functions=None"`
}

func update(c *loader.Call, a updated) (any, error) {
	funcs, ok := configured(c, a.Functions)
	if !ok {
		return nil, nil
	}
	data := payload.NewMap(len(funcs))
	for _, f := range funcs {
		value, err := c.Call(f.runs(), f.args, f.kw)
		if err != nil {
			c.Log(slog.LevelError, fmt.Sprintf("Function %s in mine.update failed to execute", f.runs()))
			c.Log(slog.LevelDebug, "Error: "+err.Error())
			continue
		}
		data.Set(f.alias, f.entry(value))
	}
	return store(c, data, a.Clear)
}

type sent struct {
	Name string       `arg:"name"`
	Rest []any        `arg:"*args"`
	KW   *payload.Map `arg:"**kwargs"`
}

func send(c *loader.Call, a sent) (any, error) {
	def := append([]any{}, a.Rest...)
	f := parse(a.Name, append(def, loader.CleanKWArgs(a.KW)))
	value, err := c.Call(f.runs(), f.args, f.kw)
	if err != nil {
		c.Log(slog.LevelError, fmt.Sprintf("Function %s in mine.send failed to execute", f.runs()))
		c.Log(slog.LevelDebug, "Error: "+err.Error())
		return false, nil
	}
	return store(c, payload.M(f.alias, f.entry(value)), false)
}

func withoutMaster(c *loader.Call) bool { return c.Opts().Str("file_client") == "local" }

func ownStore(c *loader.Call) datastore.Store { return datastore.In(c.Opts().Str("cachedir")) }

// store merges data into the mine, on the master or in the own data store.
func store(c *loader.Call, data *payload.Map, clear bool) (any, error) {
	if !withoutMaster(c) {
		return askMaster(c, payload.M("cmd", payload.CmdMine, "data", data, "id", c.ID, "clear", clear))
	}
	own := ownStore(c)
	if old, ok := own.Get(inStore).(*payload.Map); ok && !clear {
		old.Update(data)
		data = old
	}
	return true, own.Update(inStore, data)
}

// askMaster sends a load of the mine. Unlike Salt: the request goes out from here, not by way of the minion's
// event bus, so the answer tells whether it arrived.
func askMaster(c *loader.Call, load *payload.Map) (any, error) {
	master := c.Host().Master
	if master == nil {
		c.Log(slog.LevelError, "Could not authenticate with master. Mine data will not be transmitted.")
		return false, nil
	}
	answer, err := master.Request(c.Ctx, load)
	if err != nil {
		return nil, err
	}
	if err := payload.Taken(answer); err != nil { // Unlike Salt, which looks at no answer
		c.Log(slog.LevelError, fmt.Sprintf("Mine data: %v", err))
		return false, nil
	}
	return true, nil
}

type deleted struct {
	Fun any `arg:"fun"`
}

func remove(c *loader.Call, a deleted) (any, error) {
	if !withoutMaster(c) {
		return askMaster(c, payload.M("cmd", payload.CmdMineDelete, "id", c.ID, "fun", a.Fun))
	}
	own := ownStore(c)
	data, _ := own.Get(inStore).(*payload.Map)
	data = data.Clone()
	data.Delete(a.Fun)
	return true, own.Update(inStore, data)
}

func flush(c *loader.Call, _ struct{}) (any, error) {
	if !withoutMaster(c) {
		return askMaster(c, payload.M("cmd", payload.CmdMineFlush, "id", c.ID))
	}
	return true, ownStore(c).Update(inStore, payload.NewMap(0))
}

type query struct {
	Tgt     any  `arg:"tgt"`
	Fun     any  `arg:"fun"`
	TgtType any  `arg:"tgt_type=glob"`
	NotOwn  bool `arg:"exclude_minion=False"`
}

func get(c *loader.Call, a query) (any, error) {
	if withoutMaster(c) {
		return ownMine(c, a)
	}
	master := c.Host().Master
	if master == nil {
		return nil, &loader.ClientError{Message: "No access to master."}
	}
	answer, err := master.Request(c.Ctx, payload.M("cmd", payload.CmdMineGet, "id", c.ID, "tgt", a.Tgt,
		"fun", a.Fun, "tgt_type", a.TgtType))
	if err != nil {
		return nil, err
	}
	if m, ok := answer.(*payload.Map); ok && a.NotOwn {
		m = m.Clone()
		m.Delete(c.ID)
		return m, nil
	}
	return answer, nil
}

// targets are the kinds of target that choose from the mine of a minion without master.
var targets = []string{"glob", "pcre", "list", "grain", "grain_pcre", "ipcidr", "compound", "pillar", "pillar_pcre"}

// ownMine reads the mine of a minion without master, in which only it is.
func ownMine(c *loader.Call, a query) (any, error) {
	out := payload.NewMap(0)
	kind := loader.Text(a.TgtType)
	if !slices.Contains(targets, kind) {
		return nil, loader.Raise("KeyError", "%s", python.Repr(kind))
	}
	facts := &matchers.Facts{ID: c.ID, Grains: c.Grains, Pillar: c.Pillar}
	mine, err := matchers.Match(a.Tgt, kind, "", facts)
	if err != nil || !mine {
		return out, nil
	}
	data, _ := ownStore(c).Get(inStore).(*payload.Map)
	names, byFunction := namesIn(a.Fun)
	for _, name := range names {
		value, ok := data.Get(name)
		if !ok {
			continue
		}
		if m, isMap := value.(*payload.Map); isMap && m.Has(aclID) {
			value = m.Value(aclData)
		}
		if byFunction {
			out.Set(name, payload.M(c.ID, value))
		} else {
			out.Set(c.ID, value)
		}
	}
	return out, nil
}

func namesIn(fun any) (names []any, byFunction bool) {
	switch x := fun.(type) {
	case []any:
		return x, true
	case string:
		for n := range strings.SplitSeq(x, ",") {
			if !slices.Contains(names, any(n)) {
				names = append(names, n)
			}
		}
		return names, len(names) > 1
	}
	return nil, false
}

func valid(c *loader.Call, _ struct{}) (any, error) {
	funcs, ok := configured(c, nil)
	if !ok {
		return nil, nil
	}
	out := payload.NewMap(len(funcs))
	for _, f := range funcs {
		if f.name == "" {
			out.Set(f.alias, f.given)
			continue
		}
		list := append([]any{}, f.args...)
		for k, v := range f.kw.All() {
			list = append(list, payload.M(k, v))
		}
		out.Set(f.alias, payload.M(f.name, list))
	}
	return out, nil
}
