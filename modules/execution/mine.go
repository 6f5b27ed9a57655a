package execution

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// Keys of a mine entry that not every minion may read (salt/utils/mine.py).
const (
	mineACLID      = "__saltmine_acl__"
	mineACLVersion = 1
	mineACLData    = "__data__"
	mineStore      = "mine_cache" // name in the data store of a minion without master
)

func mineFunctions() []loader.Func {
	return sourced("salt/modules/mine.py", []loader.Func{
		{Name: "mine.update", Params: []loader.Param{loader.Opt("clear", false), loader.Opt("mine_functions", nil)}, Run: mineUpdate,
			Doc: `Run the functions of mine_functions and send their results to the mine.

CLI Example:

    salt '*' mine.update`},
		{Name: "mine.send", Params: []loader.Param{loader.Req("name")}, VarArgs: true, KWArgs: true, Run: mineSend,
			Doc: `Run one function and send its result to the mine.

CLI Example:

    salt '*' mine.send network.ip_addrs interface=eth0
    salt '*' mine.send eth0_ip_addrs mine_function=network.ip_addrs interface=eth0`},
		{Name: "mine.get", Params: []loader.Param{loader.Req("tgt"), loader.Req("fun"), loader.Opt("tgt_type", "glob"),
			loader.Opt("exclude_minion", false)}, Run: mineGet,
			Doc: `Get what minions sent to the mine: minion to value for one function, function to minion to value for several.

CLI Example:

    salt '*' mine.get '*' network.interfaces
    salt '*' mine.get 'os:Fedora' network.interfaces grain`},
		{Name: "mine.delete", Params: []loader.Param{loader.Req("fun")}, Run: mineDelete, Doc: `Remove one function of this minion from the mine.

CLI Example:

    salt '*' mine.delete 'network.interfaces'`},
		{Name: "mine.flush", Run: mineFlush, Doc: `Remove everything of this minion from the mine.

CLI Example:

    salt '*' mine.flush`},
		{Name: "mine.get_docker", Params: []loader.Param{loader.Opt("interfaces", nil), loader.Opt("cidrs", nil),
			loader.Opt("with_container_id", false)}, Run: mineGetDocker,
			Doc: `Get the published ports of all containers in the mine, by image.

CLI Example:

    salt-call mine.get_docker`},
		{Name: "mine.valid", Run: mineValid, Doc: `List the entries of mine_functions that can run here.

CLI Example:

    salt '*' mine.valid`},
	})
}

// mineFunc is one entry of mine_functions.
type mineFunc struct {
	alias, name string // name "": the alias is the function
	args        []any
	kw          *payload.Map
	acl         *payload.Map
	given       any // as configured
}

func (f mineFunc) function() string {
	if f.name != "" {
		return f.name
	}
	return f.alias
}

// parseMineFunc reads an entry: a map of keywords, or a list of arguments with maps of keywords among them.
func parseMineFunc(alias string, def any) mineFunc {
	f := mineFunc{alias: alias, kw: payload.NewMap(0), acl: payload.NewMap(0), given: def}
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
		if v := take(f.kw, key); loader.Truthy(v) {
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
func (f mineFunc) entry(value any) any {
	if !f.acl.Has("allow_tgt") {
		return value
	}
	m := payload.M(mineACLData, value, mineACLID, int64(mineACLVersion))
	m.Update(f.acl)
	return m
}

// configuredMine lists the usable entries of mine_functions; ok is false where there are none at all.
func configuredMine(c *loader.Call, given any) (funcs []mineFunc, ok bool) {
	if !loader.Truthy(given) {
		merged, err := c.Call("config.merge", []any{"mine_functions", payload.NewMap(0)}, nil)
		if err != nil || !loader.Truthy(merged) {
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
		f := parseMineFunc(pytext.Str(alias), def)
		if _, known := c.Registry().Lookup(f.function()); !known {
			c.Log(slog.LevelError, fmt.Sprintf("Function %s in mine_functions not available", f.function()))
			continue
		}
		funcs = append(funcs, f)
	}
	return funcs, ok
}

func mineUpdate(c *loader.Call, a loader.Args) (any, error) {
	funcs, ok := configuredMine(c, a.Get("mine_functions"))
	if !ok {
		return nil, nil
	}
	data := payload.NewMap(len(funcs))
	for _, f := range funcs {
		value, err := c.Call(f.function(), f.args, f.kw)
		if err != nil {
			c.Log(slog.LevelError, fmt.Sprintf("Function %s in mine.update failed to execute", f.function()))
			c.Log(slog.LevelDebug, "Error: "+err.Error())
			continue
		}
		data.Set(f.alias, f.entry(value))
	}
	return storeMine(c, data, a.Bool("clear"))
}

func mineSend(c *loader.Call, a loader.Args) (any, error) {
	def := append([]any{}, a.Rest...)
	f := parseMineFunc(a.Str("name"), append(def, a.UserKW()))
	value, err := c.Call(f.function(), f.args, f.kw)
	if err != nil {
		c.Log(slog.LevelError, fmt.Sprintf("Function %s in mine.send failed to execute", f.function()))
		c.Log(slog.LevelDebug, "Error: "+err.Error())
		return false, nil
	}
	return storeMine(c, payload.M(f.alias, f.entry(value)), false)
}

func withoutMaster(c *loader.Call) bool { return c.Opts().Str("file_client") == "local" }

// storeMine merges data into the mine, on the master or in the own data store.
func storeMine(c *loader.Call, data *payload.Map, clear bool) (any, error) {
	if !withoutMaster(c) {
		return askMaster(c, payload.M("cmd", payload.CmdMine, "data", data, "id", c.ID, "clear", clear))
	}
	store := openDatastore(c)
	if old, ok := store.get(mineStore).(*payload.Map); ok && !clear {
		old.Update(data)
		data = old
	}
	return true, store.update(mineStore, data)
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

func mineDelete(c *loader.Call, a loader.Args) (any, error) {
	if !withoutMaster(c) {
		return askMaster(c, payload.M("cmd", payload.CmdMineDelete, "id", c.ID, "fun", a.Get("fun")))
	}
	store := openDatastore(c)
	data, _ := store.get(mineStore).(*payload.Map)
	data = data.Clone()
	data.Delete(a.Get("fun"))
	return true, store.update(mineStore, data)
}

func mineFlush(c *loader.Call, _ loader.Args) (any, error) {
	if !withoutMaster(c) {
		return askMaster(c, payload.M("cmd", payload.CmdMineFlush, "id", c.ID))
	}
	return true, openDatastore(c).update(mineStore, payload.NewMap(0))
}

func mineGet(c *loader.Call, a loader.Args) (any, error) {
	if withoutMaster(c) {
		return ownMine(c, a)
	}
	master := c.Host().Master
	if master == nil {
		return nil, &loader.ClientError{Message: "No access to master."}
	}
	answer, err := master.Request(c.Ctx, payload.M("cmd", payload.CmdMineGet, "id", c.ID, "tgt", a.Get("tgt"), "fun", a.Get("fun"),
		"tgt_type", a.Get("tgt_type")))
	if err != nil {
		return nil, err
	}
	if m, ok := answer.(*payload.Map); ok && a.Bool("exclude_minion") {
		m = m.Clone()
		m.Delete(c.ID)
		return m, nil
	}
	return answer, nil
}

// ownMine reads the mine of a minion without master, in which only it is.
func ownMine(c *loader.Call, a loader.Args) (any, error) {
	out := payload.NewMap(0)
	kind := a.Str("tgt_type")
	if !slices.Contains([]string{"glob", "pcre", "list", "grain", "grain_pcre", "ipcidr", "compound", "pillar", "pillar_pcre"}, kind) {
		return nil, loader.Raise("KeyError", "%s", pytext.Repr(kind))
	}
	mine, err := matchers.Match(a.Get("tgt"), kind, "", &matchers.Facts{ID: c.ID, Grains: c.Grains, Pillar: c.Pillar})
	if err != nil || !mine {
		return out, nil
	}
	data, _ := openDatastore(c).get(mineStore).(*payload.Map)
	names, byFunction := mineNames(a.Get("fun"))
	for _, name := range names {
		value, ok := data.Get(name)
		if !ok {
			continue
		}
		if m, isMap := value.(*payload.Map); isMap && m.Has(mineACLID) {
			value = m.Value(mineACLData)
		}
		if byFunction {
			out.Set(name, payload.M(c.ID, value))
		} else {
			out.Set(c.ID, value)
		}
	}
	return out, nil
}

func mineNames(fun any) (names []any, byFunction bool) {
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

func mineValid(c *loader.Call, _ loader.Args) (any, error) {
	funcs, ok := configuredMine(c, nil)
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
