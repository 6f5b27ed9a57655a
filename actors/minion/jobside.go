package minion

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"brine/wire/event"
	"brine/wire/payload"
)

// eventLoad is the request that puts an event on the master's bus.
func (m *Minion) eventLoad(tag string, data any) *payload.Map {
	return payload.M("id", m.cfg.ID, "cmd", payload.CmdMinionEvent, "pretag", nil, "tag", tag, "data", data)
}

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
	l.post(&SendRequest{Done: m.logFailure(tag), Load: m.eventLoad(tag, data)})
}

// jobCrashed reports an exception of a function.
func (m *Minion) jobCrashed(l *link, jid, text string) {
	text, _, _ = strings.Cut(text, ":")
	data := payload.M("message", text, "args", []any{text})
	m.fire(event.TagSaltError, data)
	if l != nil {
		l.post(&SendRequest{Done: m.logFailure(event.TagSaltError), Load: m.eventLoad(event.TagSaltError, data).Set("jid", jid)})
	}
}

// cacheJob keeps a return on the minion (cache_jobs), where saltutil.find_cached_job looks for it.
func (m *Minion) cacheJob(jid string, ret *payload.Map) error {
	b, err := payload.MarshalBin(ret)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(m.cfg.CacheDir, "minion_jobs", safeName(jid), "return.p"), b, 0o600)
}

// callReturners hands a return to the returners the job and the option return name.
func (m *Minion) callReturners(ctx context.Context, load, ret *payload.Map) {
	names := map[string]bool{}
	for _, n := range append(strings.Split(load.Str("ret"), ","), m.cfg.Return...) {
		if n = strings.TrimSpace(n); n != "" {
			names[n] = true
		}
	}
	for n := range names {
		if slices.Contains(m.cfg.DisableReturners, n) {
			m.log.Warn("Returner "+n+" is disabled (disable_returners)", "jid", load.Str("jid"))
			continue
		}
		full := ret.Clone().Set("id", m.cfg.ID)
		for _, k := range []string{"ret_config", "ret_kwargs"} {
			if v, ok := load.Get(k); ok {
				full.Set(k, v)
			}
		}
		if err := m.opt.Returner(ctx, n, full); err != nil {
			m.log.Error("Returner "+n+".returner could not be called", "jid", load.Str("jid"), "err", err)
		}
	}
}
