package master

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/modules/eauth"
	"brine/modules/ledger"
	"brine/modules/returners"
	"brine/wire/auth"
	"brine/wire/payload"
)

// Keys of a mine entry that carries its own access rule (salt/utils/mine.py).
const (
	mineACL  = "__saltmine_acl__"
	mineData = "__data__"
)

// mineRuleTime bounds the work on the rule of one entry.
const mineRuleTime = 300 * time.Millisecond

// mine merges what a minion offers into its mine, or replaces it (clear).
func mine(c *core, r *call) (any, error) {
	data, ok := r.load.Value("data").(*payload.Map)
	if r.id == "" || !ok {
		return payload.NewMap(0), nil
	}
	if !c.cfg.MinionDataCache && !c.cfg.EnforceMineCache {
		return true, nil
	}
	if c.quotas.Take(r.id, quotaMine, 1, 1, time.Now()) == 0 {
		c.deny(r.id, ledger.DeniedMine, 1, fmt.Sprintf("more changes of its mine than minion_quota_mine (%d an hour)", c.cfg.MinionQuotaMine))
		return false, nil
	}
	c.asMinion(r.id)
	if !r.load.Bool("clear") {
		old, err := c.cache.Mine(r.id)
		if err != nil && !errors.Is(err, returners.ErrDamaged) {
			return nil, err
		} else if err != nil {
			c.log.Warn("mine could not be read, it begins anew", "minion", r.id, "err", err)
		}
		if old != nil {
			old.Update(data)
			data = old
		}
	}
	if !c.fits(data) {
		c.deny(r.id, ledger.DeniedMine, 1, fmt.Sprintf("a larger mine than minion_data_max_bytes (%d)", c.cfg.MinionDataMaxBytes))
		return false, nil
	}
	if err := c.cache.StoreMine(r.id, data); err != nil {
		return nil, err
	}
	return true, nil
}

func mineDelete(c *core, r *call) (any, error) {
	if r.id == "" || !r.load.Has("fun") {
		return payload.NewMap(0), nil
	}
	data, err := c.cache.Mine(r.id)
	if err != nil || data == nil {
		return true, err
	}
	data.Delete(r.load.Value("fun"))
	return true, c.cache.StoreMine(r.id, data)
}

func mineFlush(c *core, r *call) (any, error) {
	if r.id == "" {
		return payload.NewMap(0), nil
	}
	return true, c.cache.FlushMine(r.id)
}

// mineGet collects the values of one function (id → value) or of several (function → id → value) from the
// mines of the targeted minions, as far as the master's mine_get option and the entries' own rules allow.
func mineGet(c *core, r *call) (any, error) {
	funs, several := mineFunctions(r.load.Value("fun"))
	if !auth.ValidID(r.id) || !r.load.Has("tgt") || len(funs) == 0 {
		return payload.NewMap(0), nil
	}
	tgtType := r.load.Str("tgt_type")
	if tgtType == "" {
		tgtType = r.load.Str("expr_form")
	}
	tgt := r.load.Value("tgt")
	get := func(ctx context.Context) (any, error) {
		return c.mines(ctx, c.mineTargets(ctx, tgt, tgtType), c.mineAllowed(r.id, funs), several, r.id)
	}
	if oneID(tgt, tgtType) {
		return get(r.ctx)
	}
	return c.inTurn(r, "mine of minions", get)
}

// mines reads the mines of minions for a minion that asks, or with asker "" for everybody.
func (c *core) mines(ctx context.Context, ids, funs []string, several bool, asker string) (*payload.Map, error) {
	out := payload.NewMap(0)
	for _, id := range ids {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		data, err := c.cache.Mine(id)
		if err != nil || data == nil {
			continue
		}
		for _, fun := range funs {
			v, ok := data.Get(fun)
			if ok {
				v, ok = c.mineValue(ctx, v, asker)
			}
			switch {
			case !ok:
			case !several:
				out.Set(id, v)
			default:
				if !out.Has(fun) {
					out.Set(fun, payload.NewMap(1))
				}
				out.Map(fun).Set(id, v)
			}
		}
	}
	return out, nil
}

// mineFunctions reads fun: one name, a comma list, or a list.
func mineFunctions(v any) (funs []string, several bool) {
	switch v := v.(type) {
	case string:
		for _, f := range strings.Split(v, ",") {
			if !slices.Contains(funs, f) {
				funs = append(funs, f)
			}
		}
		return funs, len(funs) > 1
	case []any:
		for _, f := range v {
			if name, ok := f.(string); ok {
				funs = append(funs, name)
			}
		}
	}
	return funs, true
}

// mineAllowed applies the master's option mine_get: {id pattern: [function patterns]}.
func (c *core) mineAllowed(id string, funs []string) []string {
	rules, set := c.cfg.Raw.Get("mine_get")
	if !set || rules == nil {
		return funs
	}
	m, _ := rules.(*payload.Map)
	return slices.DeleteFunc(slices.Clone(funs), func(f string) bool { return !eauth.PeerAllowed(m, id, f) })
}

// mineTargets expands the target strictly: ids without data do not count, pillars match exactly.
func (c *core) mineTargets(ctx context.Context, tgt any, tgtType string) []string {
	switch strings.ToLower(tgtType) {
	case "":
		tgtType = "glob"
	case "pillar":
		tgtType = "pillar_exact"
	case "compound":
		tgtType = "compound_pillar_exact"
	}
	who, _ := c.expandKnown(ctx, tgt, tgtType) // what cannot be worked out means nobody
	return who.Minions
}

// mineValue unwraps an entry that carries a rule; not ok when the rule excludes the asking minion.
func (c *core) mineValue(ctx context.Context, v any, asker string) (any, bool) {
	entry, ok := v.(*payload.Map)
	if !ok || !entry.Has(mineACL) {
		return v, true
	}
	if tgt, limited := entry.Get("allow_tgt"); limited && asker != "" {
		tgtType := entry.Str("allow_tgt_type")
		if tgtType == "" {
			tgtType = "glob"
		}
		// The rule is of the minion whose mine it is: it must not use up the time of who asks.
		ctx, cancel := context.WithTimeout(ctx, mineRuleTime)
		defer cancel()
		who, err := c.expand(ctx, tgt, tgtType, defaultDelimiter)
		if err != nil || !slices.Contains(who.Minions, asker) {
			return nil, false
		}
	}
	return entry.Value(mineData), true
}
