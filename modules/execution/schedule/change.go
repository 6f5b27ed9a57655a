package schedule

import (
	"log/slog"

	"brine/modules/loader"
	"brine/modules/schedule"
	"brine/wire/payload"
)

// write writes the schedule into its file, for a minion that does not run. That it cannot be is logged, as in Salt.
func write(c *loader.Call, all *payload.Map) {
	if err := schedule.Save(schedule.Path(c.Opts()), all); err != nil {
		c.Log(slog.LevelError, "Failed to persist the updated schedule: "+err.Error())
	}
}

func purge(c *loader.Call, a ofAll) (any, error) {
	offline := set(a.KW, "offline")
	all, err := jobs(c, listing{all: true, disabled: true, offline: offline})
	if err != nil {
		return nil, err
	}
	comments, changes := []any{}, payload.NewMap(0)
	for _, k := range all.Keys() {
		name := loader.Text(k)
		switch {
		case name == "enabled" || schedule.Internal(name):
		case set(a.KW, "test"):
			comments = append(comments, "Job: "+name+" would be deleted from schedule.")
		case offline:
			all.Delete(k)
			comments = append(comments, "Deleted job: "+name+" from schedule.")
			changes.Set(name, "removed")
		default:
			request := payload.M("name", name, "func", "delete", "persist", keyword(a.KW, "persist", true))
			reply, ok := ask(c, request, complete("delete"))
			if ok && !reply.Map("schedule").Has(name) {
				comments = append(comments, "Deleted job: "+name+" from schedule.")
				changes.Set(name, "removed")
			} else if ok {
				comments = append(comments, "Failed to delete job "+name+" from schedule.")
			}
		}
	}
	if offline {
		write(c, all)
	}
	return payload.M("comment", comments, "changes", changes, "result", true), nil
}

func deleteJob(c *loader.Call, a ofJob) (any, error) {
	name := a.Name
	ret := payload.M("comment", "Failed to delete job "+name+" from schedule.", "result", false,
		"changes", payload.NewMap(0))
	deleted := func() (any, error) {
		ret.Map("changes").Set(name, "removed")
		return ret.Set("comment", "Deleted Job "+name+" from schedule.").Set("result", true), nil
	}
	if set(a.KW, "test") {
		return ret.Set("comment", "Job: "+name+" would be deleted from schedule.").Set("result", true), nil
	}
	if set(a.KW, "offline") {
		all, err := jobs(c, listing{all: true, disabled: true, offline: true})
		if err != nil {
			return nil, err
		}
		if !all.Has(name) { // Unlike Salt: it raises a KeyError.
			return fail(ret, "Job "+name+" does not exist.")
		}
		all.Delete(name)
		write(c, all)
		return deleted()
	}
	request := payload.M("name", name, "func", "delete")
	if !find(c, request, name, keyword(a.KW, "persist", true)) {
		return fail(ret, "Job "+name+" does not exist.")
	}
	if reply, ok := ask(c, request, complete("delete")); ok && !reply.Map("schedule").Has(name) {
		return deleted()
	}
	return ret, nil
}

func add(c *loader.Call, a ofJob) (any, error) {
	name, offline := a.Name, set(a.KW, "offline")
	ret := payload.M("comment", "Failed to add job "+name+" to schedule.", "result", false, "changes",
		payload.NewMap(0))
	added := func() (any, error) {
		ret.Map("changes").Set(name, "added")
		return ret.Set("result", true), nil
	}
	all, err := jobs(c, listing{all: true, disabled: true, offline: offline})
	if err != nil {
		return nil, err
	}
	interval, both := clash(a.KW)
	switch {
	case all.Has(name):
		return fail(ret, "Job "+name+" already exists in schedule.")
	case interval:
		return fail(ret, "Error: "+textIntervals)
	case both:
		return fail(ret, textBoth)
	}
	job, err := build(name, a.KW)
	if err != nil {
		return nil, err
	} else if job.Value("result") == false {
		return job, nil
	}
	if set(a.KW, "test") {
		return ret.Set("comment", "Job: "+name+" would be added to schedule.").Set("result", true), nil
	}
	if offline {
		write(c, all.Set(name, job))
		ret.Set("comment", "Added job: "+name+" to schedule.")
		return added()
	}
	request := payload.M("name", name, "schedule", payload.M(name, job), "func", "add",
		"persist", keyword(a.KW, "persist", true))
	if reply, ok := ask(c, request, complete("add")); ok && reply.Map("schedule").Has(name) {
		ret.Set("comment", "Added job: "+name+" to schedule.")
		return added()
	}
	return ret, nil
}

func modify(c *loader.Call, a ofJob) (any, error) {
	name, offline, kw := a.Name, set(a.KW, "offline"), a.KW.Clone()
	ret := payload.M("comment", "", "changes", payload.NewMap(0), "result", true)
	if interval, both := clash(kw); interval {
		return fail(ret, `Error: Unable to use "seconds", "minutes", "hours", or "days" with "when" option.`)
	} else if both {
		return fail(ret, textBoth)
	}
	all, err := jobs(c, listing{all: true, disabled: true, offline: offline})
	if err != nil {
		return nil, err
	}
	old, ok := all.Value(name).(*payload.Map)
	if !ok {
		return fail(ret, "Job "+name+" does not exist in schedule.")
	}
	if !kw.Has("function") {
		kw.Set("function", old.Value("function"))
	}
	job, err := build(name, kw)
	switch {
	case err != nil:
		return nil, err
	case job.Value("result") == false:
		return job, nil
	case sameJob(job, old):
		return ret.Set("comment", "Job "+name+" in correct state"), nil
	}
	ret.Map("changes").Set(name, payload.M("old", old, "new", job))
	switch {
	case set(a.KW, "test"):
		return ret.Set("comment", "Job: "+name+" would be modified in schedule."), nil
	case offline:
		changed := old.Clone()
		changed.Update(job)
		write(c, all.Set(name, changed))
		return ret.Set("comment", "Modified job: "+name+" in schedule."), nil
	}
	request := payload.M("name", name, "schedule", job, "func", "modify")
	find(c, request, name, keyword(a.KW, "persist", true))
	if !tell(c, request) {
		return fail(ret, "Failed to modify job "+name+" in schedule.")
	}
	return ret.Set("comment", "Modified job: "+name+" in schedule."), nil
}

// sameJob compares two jobs whatever the order of their options.
func sameJob(a, b *payload.Map) bool {
	if a.Len() != b.Len() {
		return false
	}
	for k, v := range a.All() {
		have, ok := b.Get(k)
		if !ok || !payload.M("v", have).Equal(payload.M("v", v)) {
			return false
		}
	}
	return true
}
