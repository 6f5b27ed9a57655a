package workers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/actors/master/access"
	"brine/actors/master/targets"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/mine"
	"brine/wire/auth"
	"brine/wire/disk/packedfile"
	"brine/wire/payload"
)

// mineStore merges what a minion offers into its mine, or replaces it (clear).
func (d *dataHandler) mineStore(r *call) (any, error) {
	ask := payload.NewMineRequest(r.load)
	data, ok := ask.Data()
	if r.id == "" || !ok {
		return payload.NewMap(0), nil
	}
	if !d.opt.Cached && !d.opt.Mines {
		return true, nil
	}
	if d.admission.Quotas.Take(r.id, access.QuotaMine, 1, 1, time.Now()) == 0 {
		d.admission.Deny(r.id, ledger.DeniedMine, 1, fmt.Sprintf("more changes of its mine than minion_quota_mine (%d an "+
			"hour)", d.admission.Opt.Hourly.Mine))
		return false, nil
	}
	d.admission.Voices.AsMinion(r.id)
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
	if !d.admission.Fits(data) {
		d.admission.Deny(r.id, ledger.DeniedMine, 1, fmt.Sprintf("a larger mine than minion_data_max_bytes (%d)",
			d.admission.Opt.DataMost))
		return false, nil
	}
	if err := d.cache.StoreMine(r.id, data); err != nil {
		return nil, err
	}
	return true, nil
}

func (d *dataHandler) mineDelete(r *call) (any, error) {
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

func (d *dataHandler) mineFlush(r *call) (any, error) {
	if r.id == "" {
		return payload.NewMap(0), nil
	}
	return true, d.cache.Forget(r.id, datacache.BankMine)
}

// mineGet answers a minion that asks for the mines of others.
func (d *dataHandler) mineGet(r *call) (any, error) {
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

// NewMines reads the mines of this master by its options (see mine.Reader).
func NewMines(opts *payload.Map, cache *datacache.Banks, who *targets.Targets) *mine.Reader {
	return &mine.Reader{Opts: opts, Mine: cache.Mine,
		Expand: func(ctx context.Context, tgt any, tgtType string, greedy bool) ([]string, error) {
			found, err := who.Meant(ctx, tgt, tgtType, targets.DefaultDelimiter, greedy)
			return found.Minions, err
		}}
}
