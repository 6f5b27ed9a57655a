package runners

import (
	"context"
	"path"
	"slices"
	"strings"

	"brine/modules/fleet/keys"
	"brine/modules/fleet/speakers"
	"brine/modules/loader"
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

func (r *runner) cacheFuncs() []loader.Func {
	tgtType := loader.Opt("tgt_type", "glob")
	tgt := []loader.Param{loader.Opt("tgt", nil), tgtType}
	funcs := []loader.Func{
		{Name: "cache.grains", Source: sourceCache, Params: []loader.Param{loader.Req("tgt"), tgtType},
			KWArgs: true, Run: r.cacheGrains,
			Doc: "Show the cached grains of minions.\n\nCLI Example:\n\n    salt-run cache.grains '*'"},
		{Name: "cache.pillar", Source: sourceCache, Params: tgt, KWArgs: true, Run: r.cachePillar,
			Doc: "Show the cached pillar of minions, of all without a target.\n\nCLI Example:\n\n    salt-run cache.pillar"},
		{Name: "cache.mine", Source: sourceCache, Params: tgt, KWArgs: true, Run: r.cacheMine,
			Doc: "Show the cached mine of minions, of all without a target.\n\nCLI Example:\n\n    salt-run cache.mine"},
		{Name: "cache.clear_mine_func", Source: sourceCache, Params: append(slices.Clone(tgt),
			loader.Opt("clear_mine_func_flag", nil)), Run: r.cacheClearMineFunc,
			Doc: "Drop one function from the cached mine of minions.\n\nCLI Example:\n\n    salt-run cache.clear_mine_func tgt='*' clear_mine_func_flag='network.interfaces'"},
	}
	for name, banks := range map[string][]string{
		"clear_pillar": {bankPillar}, "clear_grains": {bankGrains}, "clear_mine": {bankMine},
		"clear_all": {bankPillar, bankGrains, bankMine},
	} {
		funcs = append(funcs, loader.Func{Name: "cache." + name, Source: sourceCache, Params: tgt,
			Run: r.cacheClear(banks),
			Doc: "Drop cached data of minions.\n\nCLI Example:\n\n    salt-run cache." + name + " tgt='*'"})
	}
	return append(funcs, r.bankFuncs()...)
}

// bankFuncs work on any bank of the cache.
func (r *runner) bankFuncs() []loader.Func {
	bank, key, dir := loader.Req("bank"), loader.Req("key"), loader.Opt("cachedir", nil)
	return []loader.Func{
		{Name: "cache.store", Source: sourceCache, Params: []loader.Param{bank, key, loader.Req("data"), dir},
			Run: r.bankStore,
			Doc: "Store an entry of a bank.\n\nCLI Example:\n\n    salt-run cache.store mycache mykey 'some data'"},
		{Name: "cache.fetch", Source: sourceCache, Params: []loader.Param{bank, key, dir}, Run: r.bankFetch,
			Doc: "Show an entry of a bank.\n\nCLI Example:\n\n    salt-run cache.fetch grains web1"},
		{Name: "cache.list", PyName: "list_", Source: sourceCache, Params: []loader.Param{bank, dir}, Run: r.bankList,
			Doc: "List the entries of a bank.\n\nCLI Example:\n\n    salt-run cache.list grains"},
		{Name: "cache.flush", Source: sourceCache, Params: []loader.Param{bank, loader.Opt("key", nil), dir},
			Run: r.bankFlush,
			Doc: "Remove an entry of a bank, or the whole bank.\n\nCLI Example:\n\n    salt-run cache.flush mycache mykey"},
	}
}

// targeted expands a target; without one it is every minion with cached grains.
func (r *runner) targeted(ctx context.Context, tgt any, tgtType string) ([]string, error) {
	if r.Minions == nil || r.Targets == nil {
		return nil, unavailable("data cache")
	}
	if !loader.Truthy(tgt) {
		return r.Minions.Cached(bankGrains)
	}
	found, err := r.Targets.Expand(ctx, tgt, tgtType, "", true)
	if err != nil {
		return nil, loader.ExecErr("%s", err)
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

func (r *runner) cacheGrains(c *loader.Call, a loader.Args) (any, error) {
	if !loader.Truthy(a.Get("tgt")) {
		return payload.NewMap(0), nil
	}
	return r.cached(c.Ctx, bankGrains, a)
}

func (r *runner) cachePillar(c *loader.Call, a loader.Args) (any, error) {
	return r.cached(c.Ctx, bankPillar, a)
}

func (r *runner) cacheMine(c *loader.Call, a loader.Args) (any, error) {
	return r.cached(c.Ctx, bankMine, a)
}

func (r *runner) cached(ctx context.Context, bank string, a loader.Args) (any, error) {
	ids, err := r.targeted(ctx, a.Get("tgt"), a.Str("tgt_type"))
	if err != nil {
		return nil, err
	}
	return r.cachedData(bank, ids)
}

// cacheClear drops whole entries. It answers True also when there was nothing, and False without a target.
func (r *runner) cacheClear(banks []string) func(*loader.Call, loader.Args) (any, error) {
	return func(c *loader.Call, a loader.Args) (any, error) {
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

func (r *runner) cacheClearMineFunc(c *loader.Call, a loader.Args) (any, error) {
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
func (r *runner) bank(c *loader.Call, a loader.Args, key string) (string, error) {
	if r.Banks == nil {
		return "", unavailable("data cache")
	}
	if dir := a.Str("cachedir"); dir != "" && dir != c.Opts().Str("cachedir") {
		return "", loader.InvocErr("cachedir %s is not the cachedir of this master", dir)
	}
	first, _, _ := strings.Cut(path.Clean(a.Str("bank")+"/"+key), "/")
	if slices.Contains(guarded, first) {
		return "", loader.InvocErr("bank %s is not open to functions: it says who may speak as what", first)
	}
	return a.Str("bank"), nil
}

func (r *runner) bankStore(c *loader.Call, a loader.Args) (any, error) {
	bank, err := r.bank(c, a, a.Str("key"))
	if err != nil {
		return nil, err
	}
	return nil, r.Banks.Store(bank, a.Str("key"), a.Get("data"))
}

func (r *runner) bankFetch(c *loader.Call, a loader.Args) (any, error) {
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

func (r *runner) bankList(c *loader.Call, a loader.Args) (any, error) {
	bank, err := r.bank(c, a, "")
	if err != nil {
		return nil, err
	}
	ids, err := r.Banks.List(bank)
	return payload.AnyList(ids), err
}

func (r *runner) bankFlush(c *loader.Call, a loader.Args) (any, error) {
	bank, err := r.bank(c, a, a.Str("key"))
	if err != nil {
		return nil, err
	}
	return r.Banks.Flush(bank, a.Str("key"))
}
