package workers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"brine/actors/master/access"
	"brine/actors/master/eventbus"
	"brine/actors/master/pillars"
	"brine/actors/master/reqserver"
	"brine/actors/master/signin"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/mine"
	"brine/modules/fleet/pushed"
	"brine/modules/pillar"
	"brine/modules/tops"
	"brine/wire/auth"
	"brine/wire/event"
	"brine/wire/payload"
)

// DataOptions are what the configuration says of the data of minions.
type DataOptions struct {
	Cached     bool  // minion_data_cache: grains, pillars and mines are kept
	Mines      bool  // mines are kept all the same (enforce_mine_cache)
	Told       bool  // minion_data_cache_events: an event tells that they were
	Version2   bool  // version_2_grains: they may come without a token
	Receives   bool  // file_recv: minions may push files,
	MostFile   int64 // each of so many bytes (file_recv_max_size)
	MostFiles  int64 // and all of one minion of so many (minion_files_max_bytes)
	RevokesKey bool  // allow_minion_key_revoke
	Pillars    bool  // pillar_cache: pillars are kept to be the answer
}

// dataHandler answers minions that ask for data, or bring theirs.
type dataHandler struct {
	opt       DataOptions
	auth      *auth.Master
	keys      *keys.Store
	cache     *datacache.Banks
	admission *access.Admission
	events    *eventbus.Bus
	mines     *mine.Reader
	pillars   *pillars.Pillars
	kept      pillars.Cache
	tops      *tops.Tops
	pushed    *pushed.Store
	turns     *turns
	signIns   *signin.Side
	log       *slog.Logger
}

func (*dataHandler) emptyText(*call) (any, error) { return "", nil }

// pillar answers with the pillar of the minion, compiled beside the worker, and keeps it and the minion's grains.
func (d *dataHandler) pillar(r *call) (any, error) {
	ask := payload.NewPillarRequest(r.load)
	grains := ask.Grains()
	if grains == nil || !auth.ValidID(r.id) || !d.keys.Has(keys.Accepted, r.id) {
		return d.privateReply(r, payload.NewMap(0))
	}
	grains.Set(payload.FieldID, r.id)
	saltenv, pillarenv := ask.Envs()
	q := pillar.Question{ID: r.id, Grains: grains, Saltenv: saltenv, Pillarenv: pillarenv, Override: ask.Override(),
		Extra: ask.Extra(), Ext: ask.Ext()}
	clean := ask.Clean()
	r.beside("pillar", func(ctx context.Context) {
		data, cached, err := d.answerOf(ctx, r.line(), q, clean)
		if err != nil {
			d.log.Error("pillar could not be compiled", "minion", r.id, "err", payload.Show(err.Error()))
			r.req.Fail()
			return
		}
		if (d.opt.Cached || d.opt.Pillars) && d.mayKeepGrains(r, grains) {
			d.keep(q, data, cached)
		}
		frame, err := d.privateReply(r, data)
		if err != nil {
			d.log.Error("pillar could not be sealed", "minion", r.id, "err", err)
			r.req.Fail()
			return
		}
		r.finish(frame)
	})
	return nil, errLater
}

// line is whose question this is. Who only may be the minion holds up nobody but his like.
func (r *call) line() string {
	if r.req.Opened.Load().TokenOK {
		return "minion " + r.id
	}
	return "perhaps " + r.id
}

// answerOf is the pillar that answers a question, and whether it comes from the cache.
func (d *dataHandler) answerOf(ctx context.Context, line string, q pillar.Question, clean bool) (data *payload.Map,
	cached bool, err error) {
	env := d.pillars.Compiler.Env(q)
	if clean {
		if err := d.kept.Forget(q.ID, env); err != nil {
			d.log.Error("a kept pillar could not be dropped", "minion", q.ID, "err", err)
		}
	} else if data := d.kept.Look(q, env); data != nil {
		data, err := d.pillars.Compiler.Over(data, q.Override)
		return data, true, err
	}
	data, err = d.pillars.Ask(ctx, line, q)
	return data, false, err
}

// keep keeps the grains of a minion, and its pillar, by which it can be targeted: not one with values of its own, or of
// an environment that there is not.
func (d *dataHandler) keep(q pillar.Question, data *payload.Map, cached bool) {
	env := d.pillars.Compiler.Env(q)
	if cached || q.Override.Len() > 0 || q.Ext != nil || env != "" && !d.pillars.Compiler.Knows(env) ||
		!d.kept.Keeps(q.ID, env) {
		data = nil
	}
	if err := d.store(q, env, data); err != nil {
		d.log.Error("grains or pillar could not be kept", "minion", q.ID, "err", err)
	}
	if d.opt.Cached && d.opt.Told {
		d.events.Fire(event.TagMinionRefresh(q.ID), event.MinionRefresh(q.ID))
	}
}

// store writes down the grains of a minion, and its pillar of an environment when there is one to keep. What only
// pillar_cache keeps has no older form.
func (d *dataHandler) store(q pillar.Question, env string, data *payload.Map) error {
	switch {
	case d.opt.Cached && (env == "" || data == nil):
		return d.cache.Keep(q.ID, q.Grains, data)
	case d.opt.Cached:
		return errors.Join(d.cache.Keep(q.ID, q.Grains, nil), d.cache.StorePillar(q.ID, env, data))
	case data == nil:
		return nil
	}
	key, _ := d.kept.Key(q.ID, env)
	return d.cache.Store(datacache.BankPillar, key, data)
}

// mayKeepGrains tells whether the grains of a request replace those that are kept: it must be that minion's, and within
// what a minion may store. The reply is no secret to withhold: only the owner of the key can read it.
func (d *dataHandler) mayKeepGrains(r *call, grains *payload.Map) bool {
	if !d.admission.Proven(r.id, r.vouched(), d.opt.Version2, "grains without a token (version_2_grains)") {
		return false
	}
	if d.admission.Quotas.Take(r.id, access.QuotaGrains, 1, 1, time.Now()) == 0 {
		d.admission.Deny(r.id, ledger.DeniedGrains, 1, d.admission.GrainsQuota())
		return false
	}
	if !d.admission.Fits(grains) {
		d.admission.Deny(r.id, ledger.DeniedGrains, 1, fmt.Sprintf("larger grains than minion_data_max_bytes (%d)",
			d.admission.Opt.DataMost))
		return false
	}
	return true
}

func (d *dataHandler) privateReply(r *call, data *payload.Map) (any, error) {
	frame, err := d.auth.PillarReply(r.req.Opened.Load(), data)
	if err != nil {
		return nil, err
	}
	return reqserver.RawFrame(frame), nil
}

// fileRecv stores one piece of a file pushed by a minion below its own folder (option file_recv).
func (d *dataHandler) fileRecv(r *call) (any, error) {
	piece := payload.NewFilePiece(r.load)
	parts, whole := piece.Parts()
	if !d.opt.Receives || !whole {
		return false, nil
	}
	data, loc := piece.Data(), piece.Loc()
	if loc > d.opt.MostFile-int64(len(data)) { // the sum may be past the largest number
		d.log.Error("file of a minion is too big", "minion", r.id, "limit_mib", d.opt.MostFile>>20)
		return false, nil
	}
	rel, local := pushed.Rel(parts)
	if !local {
		return false, nil
	}
	err := d.pushed.Write(r.id, rel, loc, data, time.Now())
	if errors.Is(err, pushed.ErrFull) {
		d.admission.Deny(r.id, ledger.DeniedFiles, 1, fmt.Sprintf("more bytes of files than minion_files_max_bytes (%d)",
			d.opt.MostFiles))
		return false, nil
	}
	return err == nil, err
}

// revokeAuth deletes the key of the minion that asks, when the configuration lets minions do so.
func (d *dataHandler) revokeAuth(r *call) (any, error) {
	if r.id == "" {
		return false, nil
	}
	if !d.opt.RevokesKey {
		d.log.Warn("a minion may not revoke its key (allow_minion_key_revoke)", "minion", r.id)
		return r.load, nil
	}
	if err := d.signIns.RevokeKey(r.id, payload.PreservesCache(r.load)); err != nil {
		return nil, err
	}
	return true, nil
}
