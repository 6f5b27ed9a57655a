package minion

import (
	"path/filepath"
	"slices"
	"strings"

	"brine/actors/minion/jobfiles"
	"brine/modules/returners"
	"brine/wire/event"
	"brine/wire/payload"
)

// eventLoad is the request that puts an event on the master's bus.
func (m *Minion) eventLoad(tag string, data any) *payload.Map {
	return payload.M("id", m.own.id, "cmd", payload.CmdMinionEvent, "pretag", nil, "tag", tag, "data", data)
}

// jobStarted fires the event that a job published with start_event asks for (3008).
func (m *Minion) jobStarted(l *link, job *payload.Job) {
	if l == nil {
		return
	}
	jid := job.JID()
	data := payload.M(payload.FieldID, m.own.id, payload.FieldJID, jid)
	for _, name := range []string{payload.FieldFun, payload.FieldTgt, payload.FieldTgtType, payload.FieldUser} {
		data.Set(name, job.Field(name))
	}
	job.Pass(data, payload.FieldMasterID, payload.FieldMetadata)
	tag := event.TagJobStart(jid, m.own.id)
	l.post(&SendRequest{Done: m.logFailure(tag), Load: m.eventLoad(tag, data)})
}

// jobCrashed reports an exception of a function.
func (m *Minion) jobCrashed(l *link, jid, text string) {
	text, _, _ = strings.Cut(text, ":")
	data := payload.M("message", text, "args", []any{text})
	m.fire(event.TagSaltError, data)
	if l != nil {
		l.post(&SendRequest{Done: m.logFailure(event.TagSaltError), Load: m.eventLoad(event.TagSaltError,
			data).Set("jid", jid)})
	}
}

// cacheJob keeps a return on the minion (cache_jobs), below its cachedir, where saltutil.find_cached_job looks for it.
func cacheJob(cacheDir, jid string, ret *payload.Return) error {
	b, err := payload.MarshalBin(ret.Map())
	if err != nil {
		return err
	}
	return jobfiles.Write(filepath.Join(cacheDir, "minion_jobs", jobfiles.Name(jid), "return.p"), b)
}

// returnersOf are the returners that a job and the option return name, each once. The option is not for jobs of the
// schedule.
func (m *Minion) returnersOf(job *payload.Job) (names []string) {
	all := job.Returners()
	if job.Schedule() == "" {
		all = append(all, m.own.returners...)
	}
	for _, n := range all {
		if n = strings.TrimSpace(n); n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// uncalled are those of them that this minion does not have, or may not call (disable_returners). Unlike Salt: the
// return names them, since only the log of the minion would tell whoever gave the job.
func (m *Minion) uncalled(job *payload.Job) []string {
	return slices.DeleteFunc(m.returnersOf(job), func(name string) bool {
		return returners.Has(m.opt.Returners, name) && !slices.Contains(m.own.disabled, name)
	})
}

// copies is a return for the returners of its job.
func (m *Minion) copies(job *payload.Job, ret *payload.Return) *KeepReturn {
	full := ret.Map().Clone().Set(payload.FieldID, m.own.id)
	job.Pass(full, payload.FieldRetConfig, payload.FieldRetKwargs)
	return &KeepReturn{Returners: m.returnersOf(job), Return: full}
}
