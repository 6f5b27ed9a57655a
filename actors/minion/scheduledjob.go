package minion

import (
	"math/rand/v2"
	"strings"

	"brine/modules/schedule"
	"brine/modules/text/args"
	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/python"
)

// RunScheduled is a job of the schedule. Ended is called when it has been answered, or is
// lost: by the Dispatcher in its handler, or by who finds the message lost. It must not block.
type RunScheduled struct {
	Load  *payload.Map
	Link  *link
	Ended func()
	// Result is called with the return, before Ended, unless the job does not begin; nil: nobody wants it. It must not
	// block.
	Result func(*payload.Return)
}

// Lost makes room for the next run.
func (m *RunScheduled) Lost(error) { m.Ended() }

// Fields of the load of a scheduled job.
const (
	fieldSchedule  = "schedule"   // the name of the job in the schedule; other jobs have none
	fieldReturnJob = "return_job" // as the job in the schedule says
)

// random is a random number, both ends included.
func random(low, high int64) int64 { return low + rand.Int64N(high-low+1) }

// scheduledLoad is a run in the form of a publication, as far as Salt's scheduler has its fields too.
func (m *Minion) scheduledLoad(run schedule.Run) *payload.Map {
	arg, kw, given := run.Args()
	if kw != nil {
		arg = append(arg, kw.Clone().Set(args.KwargMark, true))
	}
	load := payload.M("id", m.own.id, "fun", run.Fun, "fun_args", given, fieldSchedule, run.Name, "jid", run.JID)
	if meta, ok := run.Metadata(m.clock.Now()); !ok {
		m.log.Warn(schedule.NoMetadata, "schedule", run.Key)
	} else if meta != nil {
		load.Set("metadata", meta)
	}
	load.Set("arg", orEmpty(arg))
	if returners := run.Returners(m.own.scheduleReturners); len(returners) > 0 {
		load.Set("ret", strings.Join(returners, ","))
		run.ReturnerOptions(load)
	}
	if v, ok := run.Job.Get("return_job"); ok {
		load.Set(fieldReturnJob, v)
	}
	return load
}

func orEmpty(list []any) []any {
	if list == nil {
		return []any{}
	}
	return list
}

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
	case job.Field(fieldReturnJob) == "nocache":
		jid = "nocache"
	default:
		jid = jidReq
	}
	if good, _ := ret.Success(); !good && ret.Code() == 1 && ret.Field("out") == "nested" {
		code, success = int64(254), false
	}
	out := payload.M("fun", job.Fun(), "fun_args", job.Field("fun_args"), fieldSchedule, job.Schedule(), "jid", jid)
	job.Pass(out, payload.FieldMetadata)
	return payload.NewReturn(out.Set("pid", int64(pid)).Set("return", ret.Value()).Set("retcode", code).Set("success",
		success))
}

// unreturned tells whether the master does not want to hear of a job (return_job: False).
func unreturned(job *payload.Job) bool {
	return job.Schedule() != "" && job.Map().Has(fieldReturnJob) && !python.Truth(job.Field(fieldReturnJob))
}

// onRunScheduled starts a job of the schedule, which is for this minion and was never anywhere else.
func (d *dispatcher) onRunScheduled(ctx supervisor.Context, m *RunScheduled) {
	jid := m.Load.Str("jid")
	if d.stopping || !d.reg.take(jid, d.opt.seenMost) || d.reg.find(jid) != nil {
		m.Ended()
		return
	}
	d.reg.began(jid)
	d.spawn(ctx, &jobRecord{job: payload.NewJob(m.Load), link: m.Link, ended: m.Ended, result: m.Result})
}
