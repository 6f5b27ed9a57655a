package schedule

import (
	"log/slog"

	"brine/modules/loader"
	"brine/modules/schedule/dates"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

type run struct {
	Name  string `arg:"name"`
	Force bool   `arg:"force=False"`
}

func runJob(c *loader.Call, a run) (any, error) {
	name := a.Name
	ret := payload.M("comment", []any{}, "result", true)
	all, err := jobs(c, listing{all: true, disabled: true})
	if err != nil {
		return nil, err
	}
	job, ok := all.Value(name).(*payload.Map)
	switch {
	case !ok:
		return fail(ret, "Job "+name+" does not exist.")
	case !python.Truth(job.Value("enabled")) && !a.Force:
		return ret.Set("comment", "Job "+name+" is disabled."), nil
	case !tell(c, payload.M("name", name, "func", "run_job")):
		return fail(ret, "Failed to run job "+name+" on minion.")
	}
	return ret.Set("comment", "Scheduling Job "+name+" on minion."), nil
}

func enableJob(c *loader.Call, a ofJob) (any, error) {
	return switchJob(c, a, python.Truth(c.Opts().Value("test")), "enable", "Enabled")
}

func disableJob(c *loader.Call, a ofJob) (any, error) {
	return switchJob(c, a, set(a.KW, "test"), "disable", "Disabled")
}

// switchJob enables or disables a job. verb is "enable", done what the answer says.
func switchJob(c *loader.Call, a ofJob, test bool, verb, done string) (any, error) {
	name := a.Name
	ret := payload.M("comment", []any{}, "result", true, "changes", payload.NewMap(0))
	if name == "" {
		ret.Set("comment", "Job name is required.").Set("result", false)
	}
	if test {
		return ret.Set("comment", "Job: "+name+" would be "+verb+"d in schedule."), nil
	}
	request := payload.M("name", name, "func", verb+"_job")
	if !find(c, request, name, keyword(a.KW, "persist", true)) {
		return fail(ret, "Job "+name+" does not exist.")
	}
	reply, ok := ask(c, request, complete(verb+"d_job"))
	if !ok {
		return ret, nil
	}
	job, _ := reply.Map("schedule").Value(name).(*payload.Map)
	// Unlike Salt: for a job of the pillar, which says nothing of enabled, it tells of a missing event module and of
	// success.
	if enabled, known := job.Get("enabled"); !known || python.Truth(enabled) != (verb == "enable") {
		return fail(ret, "Failed to "+verb+" job "+name+" in schedule.")
	}
	ret.Map("changes").Set(name, verb+"d")
	return ret.Set("comment", done+" Job "+name+" in schedule."), nil
}

func save(c *loader.Call, a ofAll) (any, error) {
	ret := payload.M("comment", []any{}, "result", true)
	if set(a.KW, "test") {
		return ret.Set("comment", "Schedule would be saved."), nil
	}
	if _, ok := ask(c, payload.M("func", "save_schedule"), event.TagScheduleSaved); !ok {
		return fail(ret, "Failed to save schedule.")
	}
	return ret.Set("comment", "Schedule (non-pillar items) saved."), nil
}

func enable(c *loader.Call, a ofAll) (any, error) {
	return switchAll(c, a, "enable", "Enabled")
}

func disable(c *loader.Call, a ofAll) (any, error) {
	return switchAll(c, a, "disable", "Disabled")
}

// switchAll enables or disables the whole schedule.
func switchAll(c *loader.Call, a ofAll, verb, done string) (any, error) {
	ret := payload.M("comment", []any{}, "changes", payload.NewMap(0), "result", true)
	if set(a.KW, "test") {
		return ret.Set("comment", "Schedule would be "+verb+"d."), nil
	}
	reply, ok := ask(c, payload.M("func", verb, "persist", keyword(a.KW, "persist", true)), complete(verb+"d"))
	if !ok {
		return ret, nil
	}
	if enabled, ok := reply.Map("schedule").Get("enabled"); !ok || python.Truth(enabled) != (verb == "enable") {
		return fail(ret, "Failed to "+verb+" schedule on minion.")
	}
	ret.Map("changes").Set("schedule", verb+"d")
	return ret.Set("comment", done+" schedule on minion."), nil
}

// format is the format of the times in a call.
func format(kw *payload.Map) string {
	if f := loader.Text(kw.Value("time_fmt")); f != "" {
		return f
	}
	return "%Y-%m-%dT%H:%M:%S"
}

type postponed struct {
	Name    string       `arg:"name"`
	Current string       `arg:"current_time"`
	Next    string       `arg:"new_time"`
	KW      *payload.Map `arg:"**kwargs"`
}

func postponeJob(c *loader.Call, a postponed) (any, error) {
	name, current, next := a.Name, a.Current, a.Next
	ret := payload.M("comment", []any{}, "result", true)
	switch {
	case name == "":
		return fail(ret, "Job name is required.")
	case current == "":
		return fail(ret, "Job current time is required.")
	case !isTime(c, current, next, format(a.KW)):
		return fail(ret, "Date string could not be parsed.")
	case next == "":
		return fail(ret, "Job new_time is required.")
	case !isTime(c, next, next, format(a.KW)):
		return fail(ret, "Date string could not be parsed.")
	}
	if python.Truth(c.Opts().Value("test")) {
		return ret.Set("comment", "Job: "+name+" would be postponed in schedule."), nil
	}
	request := payload.M("name", name, "time", current, "new_time", next, "time_fmt", format(a.KW), "func",
		"postpone_job")
	return shift(c, ret, request, name, "Postponed Job ", "postpone")
}

type skipped struct {
	Name    string       `arg:"name"`
	Current string       `arg:"current_time"`
	KW      *payload.Map `arg:"**kwargs"`
}

func skipJob(c *loader.Call, a skipped) (any, error) {
	name, current := a.Name, a.Current
	ret := payload.M("comment", []any{}, "result", true)
	if name == "" {
		ret.Set("comment", "Job name is required.").Set("result", false)
	}
	if current == "" {
		ret.Set("comment", "Job time is required.").Set("result", false)
	} else if !isTime(c, current, current, format(a.KW)) {
		return fail(ret, "Date string could not be parsed.")
	}
	if python.Truth(c.Opts().Value("test")) {
		return ret.Set("comment", "Job: "+name+" would be skipped in schedule."), nil
	}
	if current == "" { // Unlike Salt: it adds the empty text to the schedule, which stops all jobs.
		return ret, nil
	}
	request := payload.M("name", name, "time", current, "time_fmt", format(a.KW), "func", "skip_job")
	return shift(c, ret, request, name, "Added Skip Job ", "skip")
}

// isTime tells whether a text follows the format, and logs as Salt does which text it was about.
func isTime(c *loader.Call, text, about, form string) bool {
	_, err := dates.Scan(text, form)
	if err != nil {
		c.Log(slog.LevelError, "Date string could not be parsed: "+about+", "+form)
	}
	return err == nil
}

// shift sends a request about one time of a job.
func shift(c *loader.Call, ret, request *payload.Map, name, done, verb string) (any, error) {
	if !find(c, request, name, nil) {
		return fail(ret, "Job "+name+" does not exist.")
	}
	reply, ok := ask(c, request, complete(verb+"_job"))
	if !ok {
		return ret, nil
	}
	job, _ := reply.Map("schedule").Value(name).(*payload.Map)
	if !python.Truth(job.Value("enabled")) { // Unlike Salt: as above
		return fail(ret, "Failed to "+verb+" job "+name+" in schedule.")
	}
	return ret.Set("comment", done+name+" in schedule."), nil
}
