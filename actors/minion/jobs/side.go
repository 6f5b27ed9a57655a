package jobs

import (
	"path/filepath"
	"slices"
	"strings"

	"brine/actors/minion/copies"
	"brine/actors/minion/jobfiles"
	"brine/actors/minion/link"
	"brine/modules/returners"
	"brine/wire/event"
	"brine/wire/payload"
)

// jobStarted fires the event that a job published with start_event asks for (3008).
func (m *Jobs) jobStarted(l *link.Link, job *payload.Job) {
	if l == nil {
		return
	}
	jid := job.JID()
	data := payload.M(payload.FieldID, m.opt.ID, payload.FieldJID, jid)
	for _, name := range []string{payload.FieldFun, payload.FieldTgt, payload.FieldTgtType, payload.FieldUser} {
		data.Set(name, job.Field(name))
	}
	job.Pass(data, payload.FieldMasterID, payload.FieldMetadata)
	tag := event.TagJobStart(jid, m.opt.ID)
	l.Post(&link.Request{Done: link.LogFailure(m.opt.Log, tag), Load: link.EventLoad(m.opt.ID, tag, data)})
}

// jobCrashed reports an exception of a function.
func (m *Jobs) jobCrashed(l *link.Link, jid, text string) {
	text, _, _ = strings.Cut(text, ":")
	data := payload.M("message", text, "args", []any{text})
	m.opt.Fire(event.TagSaltError, data)
	if l != nil {
		l.Post(&link.Request{Done: link.LogFailure(m.opt.Log, event.TagSaltError), Load: link.EventLoad(m.opt.ID,
			event.TagSaltError, data).Set("jid", jid)})
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
func (m *Jobs) returnersOf(job *payload.Job) (names []string) {
	all := job.Returners()
	if job.Schedule() == "" {
		all = append(all, m.opt.Returns...)
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
func (m *Jobs) uncalled(job *payload.Job) []string {
	return slices.DeleteFunc(m.returnersOf(job), func(name string) bool {
		return returners.Has(m.opt.Returners, name) && !slices.Contains(m.opt.Disabled, name)
	})
}

// copies is a return for the returners of its job.
func (m *Jobs) copies(job *payload.Job, ret *payload.Return) *copies.Keep {
	full := ret.Map().Clone().Set(payload.FieldID, m.opt.ID)
	job.Pass(full, payload.FieldRetConfig, payload.FieldRetKwargs)
	return &copies.Keep{Returners: m.returnersOf(job), Return: full}
}
