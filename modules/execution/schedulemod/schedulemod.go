// Package schedulemod has the execution functions schedule.*: they list and change the schedule of the minion they run on, by
// events on its bus, or in its file while it does not run (offline=True). What is due is decided elsewhere (modules/schedule).
// It answers to salt/modules/schedule.py.
package schedulemod

import (
	"context"
	"slices"
	"time"

	"brine/modules/loader"
	"brine/modules/schedule"
	"brine/wire/event"
	"brine/wire/payload"
)

// patience is how long a function waits for the minion's answer, as in Salt.
const patience = 30 * time.Second

// Functions are the functions of the module.
func Functions() []loader.Func {
	name := loader.Req("name")
	funcs := []loader.Func{
		{Name: "schedule.list", Params: []loader.Param{loader.Opt("show_all", false), loader.Opt("show_disabled", true), loader.Opt("where", nil),
			loader.Opt("return_yaml", true), loader.Opt("offline", false)}, Run: list, Doc: doc("List the jobs of the schedule.", "schedule.list show_disabled=False")},
		{Name: "schedule.is_enabled", Params: []loader.Param{loader.Opt("name", nil)}, Run: isEnabled, Doc: doc("Show a job, or tell whether the schedule is enabled.", "schedule.is_enabled name=job1")},
		{Name: "schedule.purge", KWArgs: true, Run: purge, Doc: doc("Delete all jobs.", "schedule.purge")},
		{Name: "schedule.delete", Params: []loader.Param{name}, KWArgs: true, Run: deleteJob, Doc: doc("Delete a job.", "schedule.delete job1")},
		{Name: "schedule.build_schedule_item", Params: []loader.Param{name}, KWArgs: true, Run: buildItem, Doc: doc("Show a job as it would stand in the schedule.", "schedule.build_schedule_item job1 function='test.ping' seconds=3600")},
		{Name: "schedule.add", Params: []loader.Param{name}, KWArgs: true, Run: add, Doc: doc("Add a job.", "schedule.add job1 function='cmd.run' job_args=\"['date']\" seconds=60")},
		{Name: "schedule.modify", Params: []loader.Param{name}, KWArgs: true, Run: modify, Doc: doc("Change a job.", "schedule.modify job1 function='test.ping' seconds=3600")},
		{Name: "schedule.run_job", Params: []loader.Param{name, loader.Opt("force", false)}, Run: runJob, Doc: doc("Run a job now. One that is disabled is run with force only.", "schedule.run_job job1 force=True")},
		{Name: "schedule.enable_job", Params: []loader.Param{name}, KWArgs: true, Run: enableJob, Doc: doc("Enable a job.", "schedule.enable_job job1")},
		{Name: "schedule.disable_job", Params: []loader.Param{name}, KWArgs: true, Run: disableJob, Doc: doc("Disable a job.", "schedule.disable_job job1")},
		{Name: "schedule.save", KWArgs: true, Run: save, Doc: doc("Write the schedule into its file.", "schedule.save")},
		{Name: "schedule.enable", KWArgs: true, Run: enable, Doc: doc("Enable the schedule.", "schedule.enable")},
		{Name: "schedule.disable", KWArgs: true, Run: disable, Doc: doc("Disable the schedule.", "schedule.disable")},
		{Name: "schedule.reload", Run: reload, Doc: doc("Read schedule.conf, and the pillar if it has a schedule.", "schedule.reload")},
		{Name: "schedule.move", Params: []loader.Param{name, loader.Req("target")}, KWArgs: true, Run: move, Doc: doc("Move a job to other minions.", "schedule.move job1 target")},
		{Name: "schedule.copy", Params: []loader.Param{name, loader.Req("target")}, KWArgs: true, Run: copyJob, Doc: doc("Copy a job to other minions.", "schedule.copy job1 target")},
		{Name: "schedule.postpone_job", Params: []loader.Param{name, loader.Req("current_time"), loader.Req("new_time")}, KWArgs: true, Run: postponeJob,
			Doc: doc("Run a job at another time than one of its own.", "schedule.postpone_job job1 2026-12-01T10:00:00 2026-12-01T12:00:00")},
		{Name: "schedule.skip_job", Params: []loader.Param{name, loader.Req("current_time")}, KWArgs: true, Run: skipJob, Doc: doc("Do not run a job at one of its times.", "schedule.skip_job job1 2026-12-01T10:00:00")},
		{Name: "schedule.show_next_fire_time", Params: []loader.Param{name}, KWArgs: true, Run: nextFireTime, Doc: doc("Tell when a job is due next.", "schedule.show_next_fire_time job1")},
		{Name: "schedule.job_status", Params: []loader.Param{name, loader.Opt("time_fmt", "%Y-%m-%dT%H:%M:%S")}, Run: jobStatus, Doc: doc("Show a job with all that is noted of it.", "schedule.job_status job1")},
	}
	for i := range funcs {
		funcs[i].Source = "salt/modules/schedule.py"
	}
	return funcs
}

func doc(what, example string) string { return what + "\n\nCLI Example:\n\n    salt '*' " + example }

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
var shown = []string{"name", "maxrunning", "function", "splay", "range", "when", "once", "once_fmt", "returner", "jid_include", "args", "kwargs", "_seconds",
	"seconds", "minutes", "hours", "days", "enabled", "return_job", "metadata", "cron", "until", "after", "return_config", "return_kwargs", "run_on_start",
	"skip_during_range", "run_after_skip_range"}

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
			if job = plain(job); l.disabled || loader.Truthy(job.Value("enabled")) {
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
func keyword(a loader.Args, name string, std any) any {
	if v, ok := a.KW.Get(name); ok {
		return v
	}
	return std
}

func set(a loader.Args, name string) bool { return loader.Truthy(a.KW.Value(name)) }

// fail sets the comment of an answer that is not a success.
func fail(ret *payload.Map, comment string) (any, error) {
	return ret.Set("comment", comment).Set("result", false), nil
}
