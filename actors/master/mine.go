package master

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/modules/fleet/datacache"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/mine"
	"brine/wire/auth"
	"brine/wire/disk/packedfile"
	"brine/wire/payload"
)

// mineStore merges what a minion offers into its mine, or replaces it (clear).
func (d *dataDesk) mineStore(r *call) (any, error) {
	ask := payload.NewMineRequest(r.load)
	data, ok := ask.Data()
	if r.id == "" || !ok {
		return payload.NewMap(0), nil
	}
	if !d.opt.cached && !d.opt.mines {
		return true, nil
	}
	if d.gate.quotas.Take(r.id, quotaMine, 1, 1, time.Now()) == 0 {
		d.gate.deny(r.id, ledger.DeniedMine, 1, fmt.Sprintf("more changes of its mine than minion_quota_mine (%d an "+
			"hour)", d.gate.opt.hourly.mine))
		return false, nil
	}
	d.gate.voices.asMinion(r.id)
	if !ask.Clear() {
		old, err := d.cache.Mine(r.id)
		if err != nil && !errors.Is(err, packedfile.ErrDamaged) {
			return nil, err
		} else if err != nil {
			d.log.Warn("mine could not be read, it begins anew", "minion", r.id, "err", err)
		}
		if old != nil {
			old.Update(data)
			data = old
		}
	}
	if !d.gate.fits(data) {
		d.gate.deny(r.id, ledger.DeniedMine, 1, fmt.Sprintf("a larger mine than minion_data_max_bytes (%d)",
			d.gate.opt.dataMost))
		return false, nil
	}
	if err := d.cache.StoreMine(r.id, data); err != nil {
		return nil, err
	}
	return true, nil
}

func (d *dataDesk) mineDelete(r *call) (any, error) {
	fun, has := payload.NewMineRequest(r.load).Fun()
	if r.id == "" || !has {
		return payload.NewMap(0), nil
	}
	data, err := d.cache.Mine(r.id)
	if err != nil || data == nil {
		return true, err
	}
	data.Delete(fun)
	return true, d.cache.StoreMine(r.id, data)
}

func (d *dataDesk) mineFlush(r *call) (any, error) {
	if r.id == "" {
		return payload.NewMap(0), nil
	}
	return true, d.cache.Forget(r.id, datacache.BankMine)
}

// mineGet answers a minion that asks for the mines of others.
func (d *dataDesk) mineGet(r *call) (any, error) {
	ask := payload.NewMineRequest(r.load)
	fun, _ := ask.Fun()
	tgt, has := ask.Tgt()
	if !auth.ValidID(r.id) || !has || !mine.Functions(fun) {
		return payload.NewMap(0), nil
	}
	q := mine.Question{Asker: r.id, Tgt: tgt, TgtType: ask.TgtType(), Fun: fun}
	get := func(ctx context.Context) (any, error) { return d.mines.Get(ctx, q) }
	if oneID(q.Tgt, q.TgtType) {
		return get(r.ctx)
	}
	return d.turns.inTurn(r, "mine of minions", get)
}

// newMines reads the mines of this master by its options (see mine.Reader).
func newMines(opts *payload.Map, cache *datacache.Banks, targets *targets) *mine.Reader {
	return &mine.Reader{Opts: opts, Mine: cache.Mine,
		Expand: func(ctx context.Context, tgt any, tgtType string, greedy bool) ([]string, error) {
			who, err := targets.meant(ctx, tgt, tgtType, defaultDelimiter, greedy)
			return who.Minions, err
		}}
}
