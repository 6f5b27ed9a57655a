package runners

import (
	"context"
	"path"
	"slices"
	"strings"

	"brine/modules"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/speakers"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

const sourceCache = "salt/runners/cache.py"

// Banks of what is known of minions.
const (
	bankGrains = "grains"
	bankPillar = "pillar"
	bankMine   = "mine"
)

func (r *runner) cacheFuncs() []modules.Func {
	tgtType := modules.Opt("tgt_type", "glob")
	tgt := []modules.Param{modules.Opt("tgt", nil), tgtType}
	funcs := []modules.Func{
		{Name: "cache.grains", Source: sourceCache, Params: []modules.Param{modules.Req("tgt"), tgtType},
			KWArgs: true, Run: r.cacheGrains,
			Doc: "Show the cached grains of minions.\n\nCLI Example:\n\n    salt-run cache.grains '*'"},
		{Name: "cache.pillar", Source: sourceCache, Params: tgt, KWArgs: true, Run: r.cachePillar,
			Doc: "Show the cached pillar of minions, of all without a target.\n\nCLI Example:\n\n    salt-run cache.pillar"},
		{Name: "cache.mine", Source: sourceCache, Params: tgt, KWArgs: true, Run: r.cacheMine,
			Doc: "Show the cached mine of minions, of all without a target.\n\nCLI Example:\n\n    salt-run cache.mine"},
		{Name: "cache.clear_mine_func", Source: sourceCache, Params: append(slices.Clone(tgt),
			modules.Opt("clear_mine_func_flag", nil)), Run: r.cacheClearMineFunc,
			Doc: "Drop one function from the cached mine of minions.\n\nCLI Example:\n\n    salt-run cache.clear_mine_func tgt='*' clear_mine_func_flag='network.interfaces'"},
	}
	for name, banks := range map[string][]string{
		"clear_pillar": {bankPillar}, "clear_grains": {bankGrains}, "clear_mine": {bankMine},
		"clear_all": {bankPillar, bankGrains, bankMine},
	} {
		funcs = append(funcs, modules.Func{Name: "cache." + name, Source: sourceCache, Params: tgt,
			Run: r.cacheClear(banks),
			Doc: "Drop cached data of minions.\n\nCLI Example:\n\n    salt-run cache." + name + " tgt='*'"})
	}
	return append(funcs, r.bankFuncs()...)
}

// bankFuncs work on any bank of the cache.
func (r *runner) bankFuncs() []modules.Func {
	bank, key, dir := modules.Req("bank"), modules.Req("key"), modules.Opt("cachedir", nil)
	return []modules.Func{
		{Name: "cache.store", Source: sourceCache, Params: []modules.Param{bank, key, modules.Req("data"), dir},
			Run: r.bankStore,
			Doc: "Store an entry of a bank.\n\nCLI Example:\n\n    salt-run cache.store mycache mykey 'some data'"},
		{Name: "cache.fetch", Source: sourceCache, Params: []modules.Param{bank, key, dir}, Run: r.bankFetch,
			Doc: "Show an entry of a bank.\n\nCLI Example:\n\n    salt-run cache.fetch grains web1"},
		{Name: "cache.list", PyName: "list_", Source: sourceCache, Params: []modules.Param{bank, dir}, Run: r.bankList,
			Doc: "List the entries of a bank.\n\nCLI Example:\n\n    salt-run cache.list grains"},
		{Name: "cache.flush", Source: sourceCache, Params: []modules.Param{bank, modules.Opt("key", nil), dir},
			Run: r.bankFlush,
			Doc: "Remove an entry of a bank, or the whole bank.\n\nCLI Example:\n\n    salt-run cache.flush mycache mykey"},
	}
}

// targeted expands a target; without one it is every minion with cached grains.
func (r *runner) targeted(ctx context.Context, tgt any, tgtType string) ([]string, error) {
	if r.Minions == nil || r.Targets == nil {
		return nil, unavailable("data cache")
	}
	if !modules.Truthy(tgt) {
		return r.Minions.Cached(bankGrains)
	}
	found, err := r.Targets.Expand(ctx, tgt, tgtType, "", true)
	if err != nil {
		return nil, modules.ExecErr("%s", err)
	}
	return found.Minions, nil
}

// cachedData maps ids to their map in a bank, to an empty one where nothing is cached.
func (r *runner) cachedData(bank string, ids []string) (*payload.Map, error) {
	out := payload.NewMap(len(ids))
	for _, id := range ids {
		if !keys.ValidID(id) {
			continue
		}
		m, err := r.Minions.Data(bank, id)
		if err != nil {
			return nil, err
		}
		if m == nil {
			m = payload.NewMap(0)
		}
		out.Set(id, m)
	}
	return out, nil
}

func (r *runner) cacheGrains(c *modules.Call, a modules.Args) (any, error) {
	if !modules.Truthy(a.Get("tgt")) {
		return payload.NewMap(0), nil
	}
	return r.cached(c.Ctx, bankGrains, a)
}

func (r *runner) cachePillar(c *modules.Call, a modules.Args) (any, error) {
	return r.cached(c.Ctx, bankPillar, a)
}

func (r *runner) cacheMine(c *modules.Call, a modules.Args) (any, error) {
	return r.cached(c.Ctx, bankMine, a)
}

func (r *runner) cached(ctx context.Context, bank string, a modules.Args) (any, error) {
	ids, err := r.targeted(ctx, a.Get("tgt"), a.Str("tgt_type"))
	if err != nil {
		return nil, err
	}
	return r.cachedData(bank, ids)
}

// cacheClear drops whole entries. It answers True also when there was nothing, and False without a target.
func (r *runner) cacheClear(banks []string) func(*modules.Call, modules.Args) (any, error) {
	return func(c *modules.Call, a modules.Args) (any, error) {
		if a.Get("tgt") == nil {
			return false, nil
		}
		ids, err := r.targeted(c.Ctx, a.Get("tgt"), a.Str("tgt_type"))
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if err := r.Minions.Forget(id, banks...); err != nil {
				return nil, err
			}
		}
		return true, nil
	}
}

func (r *runner) cacheClearMineFunc(c *modules.Call, a modules.Args) (any, error) {
	fun := a.Get("clear_mine_func_flag")
	if a.Get("tgt") == nil || fun == nil {
		return false, nil
	}
	ids, err := r.targeted(c.Ctx, a.Get("tgt"), a.Str("tgt_type"))
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if err := r.Minions.DropMine(id, pytext.Str(fun)); err != nil {
			return nil, err
		}
	}
	return true, nil
}

// guarded are the banks by which the master decides whose word counts. Unlike Salt: it lets whoever may run cache.store write
// the resources of a minion.
var guarded = []string{speakers.BankSpeakers, speakers.BankResources}

// bank checks the arguments of a function that names a bank. A cachedir of its own is not supported: the cache
// has one place.
func (r *runner) bank(c *modules.Call, a modules.Args, key string) (string, error) {
	if r.Banks == nil {
		return "", unavailable("data cache")
	}
	if dir := a.Str("cachedir"); dir != "" && dir != c.Opts().Str("cachedir") {
		return "", modules.InvocErr("cachedir %s is not the cachedir of this master", dir)
	}
	first, _, _ := strings.Cut(path.Clean(a.Str("bank")+"/"+key), "/")
	if slices.Contains(guarded, first) {
		return "", modules.InvocErr("bank %s is not open to functions: it says who may speak as what", first)
	}
	return a.Str("bank"), nil
}

func (r *runner) bankStore(c *modules.Call, a modules.Args) (any, error) {
	bank, err := r.bank(c, a, a.Str("key"))
	if err != nil {
		return nil, err
	}
	return nil, r.Banks.Store(bank, a.Str("key"), a.Get("data"))
}

func (r *runner) bankFetch(c *modules.Call, a modules.Args) (any, error) {
	bank, err := r.bank(c, a, a.Str("key"))
	if err != nil {
		return nil, err
	}
	v, err := r.Banks.Fetch(bank, a.Str("key"))
	if err == nil && v == nil {
		return payload.NewMap(0), nil // localfs' answer for nothing
	}
	return v, err
}

func (r *runner) bankList(c *modules.Call, a modules.Args) (any, error) {
	bank, err := r.bank(c, a, "")
	if err != nil {
		return nil, err
	}
	ids, err := r.Banks.List(bank)
	return payload.AnyList(ids), err
}

func (r *runner) bankFlush(c *modules.Call, a modules.Args) (any, error) {
	bank, err := r.bank(c, a, a.Str("key"))
	if err != nil {
		return nil, err
	}
	return r.Banks.Flush(bank, a.Str("key"))
}
