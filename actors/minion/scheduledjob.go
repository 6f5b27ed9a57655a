package minion

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"brine/modules"
	"brine/modules/schedule"
	"brine/modules/text/args"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// RunScheduled is a job of the schedule. Ended is called when it has been answered, or is
// lost: by the Dispatcher in its handler, or by who finds the message lost. It must not block.
type RunScheduled struct {
	Load  *payload.Map
	Link  *link
	Ended func()
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
	given := slices.Clone(run.Job.List("args"))
	arg := slices.Clone(given)
	if kw, ok := run.Job.Value("kwargs").(*payload.Map); ok {
		given = append(given, kw)
		arg = append(arg, kw.Clone().Set(args.KwargMark, true))
	}
	load := payload.M("id", m.own.id, "fun", run.Fun, "fun_args", orEmpty(given), fieldSchedule, run.Name, "jid", run.JID)
	if v, ok := run.Job.Get("metadata"); ok {
		if meta, ok := v.(*payload.Map); ok {
			load.Set("metadata", stamped(meta, m.clock.Now()))
		} else {
			m.log.Warn("schedule: The metadata parameter must be specified as a dictionary.  Ignoring.", "schedule", run.Key)
		}
	}
	load.Set("arg", orEmpty(arg))
	returners := slices.Concat(modules.StringList(run.Job.Value("returner")), m.own.scheduleReturners)
	if len(returners) > 0 {
		load.Set("ret", strings.Join(returners, ","))
		for option, field := range map[string]string{"return_config": "ret_config", "return_kwargs": "ret_kwargs"} {
			if v, ok := run.Job.Get(option); ok {
				load.Set(field, v)
			}
		}
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

// stamped is metadata with the times that Salt adds. The last two digits of _TT are the month, as there.
func stamped(meta *payload.Map, now time.Time) *payload.Map {
	local := now.Local()
	return meta.Clone().Set("_TOS", local.Format("-0700")).Set("_TS", local.Format(time.ANSIC)).Set("_TT", now.UTC().Format("2006 January 02 Mon 15 01"))
}

// scheduledReturn is the return of a scheduled job, in Salt's order. One that goes to no returner has no job id: the master
// gives it one. What is no outcome of the function is a failure of code 254.
//
// Unlike Salt: the return of a function that failed says why; there it is "Unhandled exception running" and the function's name.
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
	return payload.NewReturn(out.Set("pid", int64(pid)).Set("return", ret.Value()).Set("retcode", code).Set("success", success))
}

// unreturned tells whether the master does not want to hear of a job (return_job: False).
func unreturned(job *payload.Job) bool {
	return job.Schedule() != "" && job.Map().Has(fieldReturnJob) && !modules.Truthy(job.Field(fieldReturnJob))
}

// onRunScheduled starts a job of the schedule, which is for this minion and was never anywhere else.
func (d *dispatcher) onRunScheduled(ctx actor.Context, m *RunScheduled) {
	jid := m.Load.Str("jid")
	if d.stopping || !d.reg.take(jid, d.opt.seenMost) || d.reg.find(jid) != nil {
		m.Ended()
		return
	}
	d.reg.began(jid)
	d.spawn(ctx, &jobRecord{job: payload.NewJob(m.Load), link: m.Link, ended: m.Ended})
}
