// Package schedule is the execution module schedule: it lists and changes the schedule of the minion it runs on, by
// events on its bus, or in its file while it does not run (offline=True). modules/schedule decides what is due.
// It answers to salt/modules/schedule.py.
package schedule

import (
	"context"
	"slices"
	"time"

	"brine/modules/loader"
	"brine/modules/schedule"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// patience is how long a function waits for the minion's answer, as in Salt.
const patience = 30 * time.Second

// Module is the module schedule.
func Module() loader.Module {
	return loader.Module{File: "schedule", Virtual: loader.Always, Funcs: functions}
}

func functions() []loader.Func {
	return []loader.Func{
		loader.Fn("list", list, "List the jobs of the schedule.", "schedule.list show_disabled=False"),
		loader.Fn("is_enabled", isEnabled, "Show a job, or tell whether the schedule is enabled.",
			"schedule.is_enabled name=job1"),
		loader.Fn("purge", purge, "Delete all jobs.", "schedule.purge"),
		loader.Fn("delete", deleteJob, "Delete a job.", "schedule.delete job1"),
		loader.Fn("build_schedule_item", buildItem, "Show a job as it would stand in the schedule.",
			"schedule.build_schedule_item job1 function='test.ping' seconds=3600"),
		loader.Fn("add", add, "Add a job.",
			"schedule.add job1 function='cmd.run' job_args=\"['date']\" seconds=60"),
		loader.Fn("modify", modify, "Change a job.", "schedule.modify job1 function='test.ping' seconds=3600"),
		loader.Fn("run_job", runJob, "Run a job now. One that is disabled is run with force only.",
			"schedule.run_job job1 force=True"),
		loader.Fn("enable_job", enableJob, "Enable a job.", "schedule.enable_job job1"),
		loader.Fn("disable_job", disableJob, "Disable a job.", "schedule.disable_job job1"),
		loader.Fn("save", save, "Write the schedule into its file.", "schedule.save"),
		loader.Fn("enable", enable, "Enable the schedule.", "schedule.enable"),
		loader.Fn("disable", disable, "Disable the schedule.", "schedule.disable"),
		loader.Fn("reload", reload, "Read schedule.conf, and the pillar if it has a schedule.",
			"schedule.reload"),
		loader.Fn("move", move, "Move a job to other minions.", "schedule.move job1 target"),
		loader.Fn("copy", copyJob, "Copy a job to other minions.", "schedule.copy job1 target"),
		loader.Fn("postpone_job", postponeJob, "Run a job at another time than one of its own.",
			"schedule.postpone_job job1 2026-12-01T10:00:00 2026-12-01T12:00:00"),
		loader.Fn("skip_job", skipJob, "Do not run a job at one of its times.",
			"schedule.skip_job job1 2026-12-01T10:00:00"),
		loader.Fn("show_next_fire_time", nextFireTime, "Tell when a job is due next.",
			"schedule.show_next_fire_time job1"),
		loader.Fn("job_status", jobStatus, "Show a job with all that is noted of it.",
			"schedule.job_status job1"),
	}
}

// Most functions are about one job, or all of them, and take options as keywords.
type (
	ofJob struct {
		Name string       `arg:"name"`
		KW   *payload.Map `arg:"**kwargs"`
	}
	ofAll struct {
		KW *payload.Map `arg:"**kwargs"`
	}
)

// tell sends a request to the minion; false when there is none.
func tell(c *loader.Call, request *payload.Map) bool {
	bus := c.Host().Events
	return bus != nil && bus.FireLocal(c.Ctx, event.TagManageSchedule, request)
}

// ask sends a request to the minion and waits for the event that answers it.
func ask(c *loader.Call, request *payload.Map, tag string) (*payload.Map, bool) {
	bus := c.Host().Events
	if bus == nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(c.Ctx, patience)
	defer cancel()
	return bus.AwaitLocal(ctx, event.TagManageSchedule, request, tag)
}

func complete(what string) string { return event.TagMinionComplete("schedule_" + what) }

// listing says which jobs are wanted.
type listing struct {
	all, disabled, offline bool
	where                  any
}

// options of a job that a listing shows.
var shown = []string{
	"name", "maxrunning", "function", "splay", "range", "when", "once", "once_fmt", "returner", "jid_include", "args",
	"kwargs", "_seconds", "seconds", "minutes", "hours", "days", "enabled", "return_job", "metadata", "cron", "until",
	"after", "return_config", "return_kwargs", "run_on_start", "skip_during_range", "run_after_skip_range",
}

// jobs are the jobs of the schedule without what is noted of them. The map is the caller's.
func jobs(c *loader.Call, l listing) (*payload.Map, error) {
	var all *payload.Map
	if l.offline {
		var err error
		if all, err = schedule.Load(schedule.Path(c.Opts())); err != nil {
			return nil, err
		}
	} else if reply, ok := ask(c, payload.M("func", "list", "where", l.where), complete("list")); ok {
		all = reply.Map("schedule")
	}
	out := payload.NewMap(all.Len())
	for k, v := range all.All() {
		key := loader.Text(k)
		job, isJob := v.(*payload.Map)
		switch {
		case !isJob || key == "skip_during_range":
			out.Set(k, v)
		case schedule.Internal(key) && !l.all:
		default:
			if job = plain(job); l.disabled || python.Truth(job.Value("enabled")) {
				out.Set(k, job)
			}
		}
	}
	return out, nil
}

// plain is a job as a listing shows it.
func plain(job *payload.Map) *payload.Map {
	out := payload.NewMap(job.Len() + 1)
	for k, v := range job.All() {
		switch name, _ := k.(string); {
		case !slices.Contains(shown, name) || v == nil || name == "_seconds":
		case v == "true":
			out.Set(k, true)
		case v == "false":
			out.Set(k, false)
		default:
			out.Set(k, v)
		}
	}
	if !job.Has("enabled") {
		out.Set("enabled", true)
	}
	return out
}

// has tells whether a job stands in one part of the schedule ("opts", "pillar").
func has(c *loader.Call, name, where string) bool {
	all, err := jobs(c, listing{all: true, disabled: true, where: where})
	return err == nil && all.Has(name)
}

// find adds to a request where the job stands. One of the pillar is not written down. false when there is none.
func find(c *loader.Call, request *payload.Map, name string, persist any) bool {
	switch {
	case has(c, name, "opts"):
		if persist != nil {
			request.Set("persist", persist)
		}
	case has(c, name, "pillar"):
		request.Set("where", "pillar")
		if persist != nil {
			request.Set("persist", false)
		}
	default:
		return false
	}
	return true
}

// keyword is a keyword of a call, or its default.
func keyword(kw *payload.Map, name string, std any) any {
	if v, ok := kw.Get(name); ok {
		return v
	}
	return std
}

func set(kw *payload.Map, name string) bool { return python.Truth(kw.Value(name)) }

// fail sets the comment of an answer that is not a success.
func fail(ret *payload.Map, comment string) (any, error) {
	return ret.Set("comment", comment).Set("result", false), nil
}
