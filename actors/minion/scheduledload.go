package minion

import (
	"math/rand/v2"
	"strings"

	"brine/actors/minion/jobs"
	"brine/modules/schedule"
	"brine/modules/text/args"
	"brine/wire/payload"
)

// random is a random number, both ends included.
func random(low, high int64) int64 { return low + rand.Int64N(high-low+1) }

// scheduledLoad is a run in the form of a publication, as far as Salt's scheduler has its fields too.
func (m *Minion) scheduledLoad(run schedule.Run) *payload.Map {
	arg, kw, given := run.Args()
	if kw != nil {
		arg = append(arg, kw.Clone().Set(args.KwargMark, true))
	}
	load := payload.M("id", m.own.id, "fun", run.Fun, "fun_args", given, jobs.FieldSchedule, run.Name, "jid", run.JID)
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
		load.Set(jobs.FieldReturnJob, v)
	}
	return load
}

func orEmpty(list []any) []any {
	if list == nil {
		return []any{}
	}
	return list
}
