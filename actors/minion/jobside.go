package minion

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"brine/modules"
	"brine/supervisor"
	"brine/wire/event"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// jobStarted fires the event that a job published with start_event asks for (3008).
func (m *Minion) jobStarted(l *link, load *payload.Map) {
	if l == nil {
		return
	}
	jid := load.Str("jid")
	data := payload.M("id", m.cfg.ID, "jid", jid, "fun", load.Value("fun"), "tgt", load.Value("tgt"),
		"tgt_type", load.Value("tgt_type"), "user", load.Value("user"))
	for _, k := range []string{"master_id", "metadata"} {
		if v, ok := load.Get(k); ok {
			data.Set(k, v)
		}
	}
	tag := event.TagJobStart(jid, m.cfg.ID)
	l.sender.Send(&SendRequest{Done: m.logFailure(tag),
		Load: payload.M("id", m.cfg.ID, "cmd", payload.CmdMinionEvent, "pretag", nil, "tag", tag, "data", data)})
}

// jobCrashed reports an exception of a function.
func (m *Minion) jobCrashed(l *link, jid, text string) {
	if l == nil {
		return
	}
	text, _, _ = strings.Cut(text, ":")
	data := payload.M("message", text, "args", []any{text})
	m.fire(event.TagSaltError, data)
	l.sender.Send(&SendRequest{Done: m.logFailure(event.TagSaltError),
		Load: payload.M("id", m.cfg.ID, "cmd", payload.CmdMinionEvent, "pretag", nil, "tag", event.TagSaltError, "data", data, "jid", jid)})
}

// cacheJob keeps a return on the minion (cache_jobs), where saltutil.find_cached_job looks for it.
func (m *Minion) cacheJob(jid string, ret *payload.Map) error {
	dir := filepath.Join(m.cfg.CacheDir, "minion_jobs", safeName(jid))
	b, err := payload.MarshalBin(ret)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "return.p"), b, 0o600)
}

// callReturners hands a return to the returners the job and the option return name.
func (m *Minion) callReturners(load, ret *payload.Map) {
	names := map[string]bool{}
	for _, n := range append(strings.Split(load.Str("ret"), ","), m.cfg.Return...) {
		if n = strings.TrimSpace(n); n != "" {
			names[n] = true
		}
	}
	for n := range names {
		full := ret.Clone().Set("id", m.cfg.ID)
		for _, k := range []string{"ret_config", "ret_kwargs"} {
			if v, ok := load.Get(k); ok {
				full.Set(k, v)
			}
		}
		if err := m.opt.Returner(context.Background(), n, full); err != nil {
			m.log.Error("Returner "+n+".returner could not be called", "jid", load.Str("jid"), "err", err)
		}
	}
}

// mineTimer calls mine.update at the start and every mine_interval.
type mineTimer struct{ m *Minion }

// updateMine asks for one mine.update.
type updateMine struct{}

func (t *mineTimer) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *actor.Started:
		t.onStarted(ctx)
	case *updateMine:
		t.onUpdate(ctx)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (t *mineTimer) onStarted(ctx actor.Context) {
	self, every := supervisor.Self(ctx), t.m.cfg.MineInterval
	self.Send(&updateMine{}) // its requests wait for the sign-in
	supervisor.Go(ctx, "timer", func(ctx context.Context) error { return tick(ctx, every, self, &updateMine{}) })
}

func (t *mineTimer) onUpdate(ctx actor.Context) {
	m := t.m
	supervisor.Go(ctx, "mine.update", func(ctx context.Context) error {
		if err := m.call(ctx, "mine.update"); err != nil {
			m.log.Error("the mine could not be updated", "err", err)
		}
		return nil
	})
}

// call runs a function on the minion's own behalf, outside any job.
func (m *Minion) call(ctx context.Context, fun string) error {
	_, err := modules.NewCall(ctx, m.env, fun, nil).Call(fun, nil, nil)
	return err
}
