// Package schedule is the state module schedule: states of the jobs that the minion runs by the clock. Answers to
// salt/states/schedule.py.
package schedule

import (
	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module schedule.
func Module() loader.Module {
	return loader.Module{File: "schedule", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("present", present, "Have a job in the schedule.", "job1:", "  schedule.present:",
				"    - function: state.sls", "    - job_args: [httpd]", "    - hours: 1"),
			states.Fn("absent", absent, "Have a job not in the schedule."),
			states.Fn("enabled", enabled, "Enable a job of the schedule."),
			states.Fn("disabled", disabled, "Disable a job of the schedule."),
		}
	}}
}

type job struct {
	Name any          `arg:"name"`
	KW   *payload.Map `arg:"**kwargs"`
}

// current are the jobs of the schedule.
func current(c *states.Call, kw *payload.Map) (*payload.Map, error) {
	v, err := c.Salt("schedule.list", payload.M("show_all", true, "return_yaml", false, "offline", kw.Value("offline")))
	if err != nil {
		return nil, err
	}
	jobs, _ := v.(*payload.Map)
	return jobs, nil
}

// ask calls a function of the execution module, which answers with result, comment and changes.
func ask(c *states.Call, fun string, a job, test bool) (*payload.Map, error) {
	kw := a.KW.Clone()
	if test {
		kw.Set("test", true)
	}
	v, err := c.Salt("schedule."+fun, kw, a.Name)
	if err != nil {
		return nil, err
	}
	ret, ok := v.(*payload.Map)
	if !ok {
		return nil, loader.Raise("TypeError", "schedule.%s returned %s", fun, python.Type(v))
	}
	return ret, nil
}

func present(c *states.Call, a job) (states.Plan, error) {
	jobs, err := current(c, a.KW)
	if err != nil {
		return states.Plan{}, err
	}
	name := python.Str(a.Name)
	old, there := jobs.Get(a.Name)
	if !there {
		return change(c, "add", a, "Adding new job "+name+" to schedule", payload.M(a.Name, "added"))
	}
	v, err := c.Salt("schedule.build_schedule_item", a.KW, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	item, isMap := v.(*payload.Map)
	if isMap && item.Has("result") && !python.Truth(item.Value("result")) {
		return states.Plan{Result: item.Value("result"), Comment: item.Value("comment")}, nil
	}
	if isMap && !item.Has("enabled") {
		item.Set("enabled", true)
	}
	if dicts.Contains([]any{old}, v) {
		return states.Correct("Job " + name + " in correct state"), nil
	}
	return change(c, "modify", a, "Modifying job "+name+" in schedule", nil)
}

// change is the plan to call a function that changes a job. In test mode the function says what it would do, and the
// result is True, as in Salt.
func change(c *states.Call, fun string, a job, did string, shown *payload.Map) (states.Plan, error) {
	p := states.Plan{Result: true, Apply: func() (states.Done, error) {
		ret, err := ask(c, fun, a, false)
		if err != nil {
			return states.Done{}, err
		}
		if !python.Truth(ret.Value("result")) {
			return states.Done{Result: ret.Value("result"), Comment: ret.Value("comment")}, nil
		}
		return states.Changed(did, ret.Map("changes"))
	}}
	if !c.Test {
		return p, nil
	}
	ret, err := ask(c, fun, a, true)
	if err != nil {
		return states.Plan{}, err
	}
	p.Comment, p.Changes = ret.Value("comment"), shown
	if fun == "modify" {
		p.Changes = ret.Map("changes")
	}
	return p, nil
}

func absent(c *states.Call, a job) (states.Plan, error) {
	return ofExisting(c, "delete", a, "Removed job "+python.Str(a.Name)+" from schedule", true)
}

func enabled(c *states.Call, a job) (states.Plan, error) {
	return ofExisting(c, "enable_job", a, "Enabled job "+python.Str(a.Name)+" from schedule", false)
}

func disabled(c *states.Call, a job) (states.Plan, error) {
	return ofExisting(c, "disable_job", a, "Disabled job "+python.Str(a.Name)+" from schedule", false)
}

// ofExisting is the plan for a job that may not be there; without shown its changes are not told, as in Salt.
func ofExisting(c *states.Call, fun string, a job, did string, shown bool) (states.Plan, error) {
	kw := a.KW
	if fun == "enable_job" {
		kw = nil // Salt looks at the running schedule only
	}
	jobs, err := current(c, kw)
	if err != nil {
		return states.Plan{}, err
	}
	if !jobs.Has(a.Name) {
		return states.Correct("Job " + python.Str(a.Name) + " not present in schedule"), nil
	}
	p, err := change(c, fun, a, did, nil)
	if apply := p.Apply; apply != nil && !shown {
		p.Apply = func() (states.Done, error) {
			done, err := apply()
			done.Changes = nil
			return done, err
		}
	}
	return p, err
}
