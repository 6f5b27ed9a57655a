package jobs

import (
	"brine/actors/minion/link"
	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/python"
)

// Run is a job of the schedule. Ended is called when it has been answered, or is
// lost: by the Dispatcher in its handler, or by who finds the message lost. It must not block.
type Run struct {
	Load  *payload.Map
	Link  *link.Link
	Ended func()
	// Result is called with the return, before Ended, unless the job does not begin; nil: nobody wants it. It must not
	// block.
	Result func(*payload.Return)
}

// Lost makes room for the next run.
func (m *Run) Lost(error) { m.Ended() }

// Fields of the load of a scheduled job.
const (
	FieldSchedule  = "schedule"   // the name of the job in the schedule; other jobs have none
	FieldReturnJob = "return_job" // as the job in the schedule says
)

// scheduledReturn is the return of a scheduled job, in Salt's order. One that goes to no returner has no job id: the
// master gives it one. What is no outcome of the function is a failure of code 254.
//
// Unlike Salt: the return of a function that failed says why; there it is "Unhandled exception running" and the
// function's name.
func scheduledReturn(job *payload.Job, pid int, ret *payload.Return) *payload.Return {
	if job.Schedule() == "" {
		return ret
	}
	jid, code, success := job.JID(), ret.Retcode(), true
	switch {
	case len(job.Returners()) > 0:
	case job.Field(FieldReturnJob) == "nocache":
		jid = "nocache"
	default:
		jid = JIDReq
	}
	if good, _ := ret.Success(); !good && ret.Code() == 1 && ret.Field("out") == "nested" {
		code, success = int64(254), false
	}
	out := payload.M("fun", job.Fun(), "fun_args", job.Field("fun_args"), FieldSchedule, job.Schedule(), "jid", jid)
	job.Pass(out, payload.FieldMetadata)
	return payload.NewReturn(out.Set("pid", int64(pid)).Set("return", ret.Value()).Set("retcode", code).Set("success",
		success))
}

// unreturned tells whether the master does not want to hear of a job (return_job: False).
func unreturned(job *payload.Job) bool {
	return job.Schedule() != "" && job.Map().Has(FieldReturnJob) && !python.Truth(job.Field(FieldReturnJob))
}

// onRunScheduled starts a job of the schedule, which is for this minion and was never anywhere else.
func (d *dispatcher) onRunScheduled(ctx supervisor.Context, m *Run) {
	jid := m.Load.Str("jid")
	if d.stopping || !d.reg.take(jid, d.opt.seenMost) || d.reg.find(jid) != nil {
		m.Ended()
		return
	}
	d.reg.began(jid)
	d.spawn(ctx, &jobRecord{job: payload.NewJob(m.Load), link: m.Link, ended: m.Ended, result: m.Result})
}
