// Package cache is the runner module cache: it shows, stores and drops what the master's data cache knows. Answers to
// salt/runners/cache.py.
package cache

import (
	"context"
	"path"
	"slices"
	"strings"

	"brine/modules/fleet/keys"
	"brine/modules/fleet/speakers"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module cache.
func Module(o runners.Options) loader.Module {
	m := &master{o}
	return loader.Module{File: "cache", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(m.minionFuncs(), m.bankFuncs())
	}}
}

// master has the cache.
type master struct{ runners.Options }

// minionFuncs show and drop what is known of minions.
func (m *master) minionFuncs() []loader.Func {
	return []loader.Func{
		loader.Fn("grains", m.grains, "Show the cached grains of minions.", "salt-run cache.grains '*'"),
		loader.Fn("pillar", m.pillar, "Show the cached pillar of minions, of all without a target.",
			"salt-run cache.pillar"),
		loader.Fn("mine", m.mine, "Show the cached mine of minions, of all without a target.", "salt-run cache.mine"),
		loader.Fn("clear_mine_func", m.clearMineFunc, "Drop one function from the cached mine of minions.",
			"salt-run cache.clear_mine_func tgt='*' clear_mine_func_flag='network.interfaces'"),
		m.clear("clear_pillar", runners.BankPillar),
		m.clear("clear_grains", runners.BankGrains),
		m.clear("clear_mine", runners.BankMine),
		m.clear("clear_all", runners.BankPillar, runners.BankGrains, runners.BankMine),
	}
}

// bankFuncs work on any bank of the cache.
func (m *master) bankFuncs() []loader.Func {
	return []loader.Func{
		loader.Fn("store", m.store, "Store an entry of a bank.", "salt-run cache.store mycache mykey 'some data'"),
		loader.Fn("fetch", m.fetch, "Show an entry of a bank.", "salt-run cache.fetch grains web1"),
		loader.Fn("list", m.list, "List the entries of a bank.", "salt-run cache.list grains").Named("list_"),
		loader.Fn("flush", m.flush, "Remove an entry of a bank, or the whole bank.",
			"salt-run cache.flush mycache mykey"),
	}
}

// cachedData maps ids to their map in a bank, to an empty one where nothing is cached.
func (m *master) cachedData(bank string, ids []string) (*payload.Map, error) {
	out := payload.NewMap(len(ids))
	for _, id := range ids {
		if !keys.ValidID(id) {
			continue
		}
		known, err := m.Minions.Data(bank, id)
		if err != nil {
			return nil, err
		}
		if known == nil {
			known = payload.NewMap(0)
		}
		out.Set(id, known)
	}
	return out, nil
}

type wantedGrains struct {
	Tgt  any          `arg:"tgt"`
	Type string       `arg:"tgt_type=glob"`
	KW   *payload.Map `arg:"**kwargs"`
}

func (m *master) grains(c *loader.Call, a wantedGrains) (*payload.Map, error) {
	if !python.Truth(a.Tgt) {
		return payload.NewMap(0), nil
	}
	return m.cached(c.Ctx, runners.BankGrains, target{a.Tgt, a.Type})
}

// target is which minions are meant.
type target struct {
	Tgt  any    `arg:"tgt=None"`
	Type string `arg:"tgt_type=glob"`
}

type wanted struct {
	target
	KW *payload.Map `arg:"**kwargs"`
}

func (m *master) pillar(c *loader.Call, a wanted) (*payload.Map, error) {
	return m.cached(c.Ctx, runners.BankPillar, a.target)
}

func (m *master) mine(c *loader.Call, a wanted) (*payload.Map, error) {
	return m.cached(c.Ctx, runners.BankMine, a.target)
}

func (m *master) cached(ctx context.Context, bank string, of target) (*payload.Map, error) {
	ids, err := m.Targeted(ctx, of.Tgt, of.Type)
	if err != nil {
		return nil, err
	}
	return m.cachedData(bank, ids)
}

// clear is a function that drops whole entries. It answers True also when there was nothing, and False without a
// target.
func (m *master) clear(name string, banks ...string) loader.Func {
	return loader.Fn(name, func(c *loader.Call, a target) (bool, error) {
		if a.Tgt == nil {
			return false, nil
		}
		ids, err := m.Targeted(c.Ctx, a.Tgt, a.Type)
		if err != nil {
			return false, err
		}
		for _, id := range ids {
			if err := m.Minions.Forget(id, banks...); err != nil {
				return false, err
			}
		}
		return true, nil
	}, "Drop cached data of minions.", "salt-run cache."+name+" tgt='*'")
}

type mineFunc struct {
	target
	Fun any `arg:"clear_mine_func_flag=None"`
}

func (m *master) clearMineFunc(c *loader.Call, a mineFunc) (bool, error) {
	if a.Tgt == nil || a.Fun == nil {
		return false, nil
	}
	ids, err := m.Targeted(c.Ctx, a.Tgt, a.Type)
	if err != nil {
		return false, err
	}
	for _, id := range ids {
		if err := m.Minions.DropMine(id, python.Str(a.Fun)); err != nil {
			return false, err
		}
	}
	return true, nil
}

// guarded are the banks by which the master decides whose word counts. Unlike Salt: it lets whoever may run cache.store
// write the resources of a minion.
var guarded = []string{speakers.BankSpeakers, speakers.BankResources}

// check looks at the arguments of a function that names a bank. A cachedir of its own is not supported: the cache
// has one place.
func (m *master) check(c *loader.Call, bank, key, dir string) error {
	if m.Banks == nil {
		return runners.Unavailable("data cache")
	}
	if dir != "" && dir != c.Opts().Str("cachedir") {
		return loader.InvocErr("cachedir %s is not the cachedir of this master", dir)
	}
	first, _, _ := strings.Cut(path.Clean(bank+"/"+key), "/")
	if slices.Contains(guarded, first) {
		return loader.InvocErr("bank %s is not open to functions: it says who may speak as what", first)
	}
	return nil
}

// entry is a key of a bank.
type entry struct {
	Bank string `arg:"bank"`
	Key  string `arg:"key"`
}

type stored struct {
	entry
	Data any    `arg:"data"`
	Dir  string `arg:"cachedir=None"`
}

func (m *master) store(c *loader.Call, a stored) (any, error) {
	if err := m.check(c, a.Bank, a.Key, a.Dir); err != nil {
		return nil, err
	}
	return nil, m.Banks.Store(a.Bank, a.Key, a.Data)
}

type fetched struct {
	entry
	Dir string `arg:"cachedir=None"`
}

func (m *master) fetch(c *loader.Call, a fetched) (any, error) {
	if err := m.check(c, a.Bank, a.Key, a.Dir); err != nil {
		return nil, err
	}
	v, err := m.Banks.Fetch(a.Bank, a.Key)
	if err == nil && v == nil {
		return payload.NewMap(0), nil // localfs' answer for nothing
	}
	return v, err
}

type listed struct {
	Bank string `arg:"bank"`
	Dir  string `arg:"cachedir=None"`
}

func (m *master) list(c *loader.Call, a listed) ([]any, error) {
	if err := m.check(c, a.Bank, "", a.Dir); err != nil {
		return nil, err
	}
	ids, err := m.Banks.List(a.Bank)
	return payload.AnyList(ids), err
}

type flushed struct {
	Bank string `arg:"bank"`
	Key  string `arg:"key=None"`
	Dir  string `arg:"cachedir=None"`
}

func (m *master) flush(c *loader.Call, a flushed) (any, error) {
	if err := m.check(c, a.Bank, a.Key, a.Dir); err != nil {
		return nil, err
	}
	return m.Banks.Flush(a.Bank, a.Key)
}
