package schedulemod

import (
	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/modules/schedule"
	"brine/modules/schedule/dates"
	"brine/wire/payload"
)

func list(c *loader.Call, a loader.Args) (any, error) {
	offline := loader.Truthy(a.Get("offline"))
	all, err := jobs(c, listing{all: loader.Truthy(a.Get("show_all")), disabled: loader.Truthy(a.Get("show_disabled")), where: a.Get("where"), offline: offline})
	if err != nil || !loader.Truthy(a.Get("return_yaml")) {
		return all, err
	}
	saved, err := schedule.Load(schedule.Path(c.Opts()))
	if err != nil {
		return nil, err
	}
	for k, v := range all.All() {
		if job, ok := v.(*payload.Map); ok {
			job.Set("saved", saved.Has(k))
		}
	}
	return outputters.DumpYAML(payload.M("schedule", all), outputters.FlowNever, 0), nil
}

func isEnabled(c *loader.Call, a loader.Args) (any, error) {
	all, err := jobs(c, listing{disabled: true})
	if err != nil {
		return nil, err
	}
	key, std := "enabled", any(true)
	if loader.Truthy(a.Get("name")) {
		key, std = loader.Text(a.Get("name")), payload.NewMap(0)
	}
	if v, ok := all.Get(key); ok {
		return v, nil
	}
	return std, nil
}

func nextFireTime(c *loader.Call, a loader.Args) (any, error) {
	ret := payload.M("result", true)
	name := loader.Text(a.Get("name"))
	if name == "" {
		ret.Set("comment", "Job name is required.").Set("result", false)
	}
	reply, _ := ask(c, payload.M("name", name, "func", "get_next_fire_time"), complete("next_fire_time"))
	if next, ok := reply.Get("next_fire_time"); ok {
		return ret.Set("next_fire_time", next), nil
	}
	return ret.Set("comment", "next fire time not available."), nil
}

func jobStatus(c *loader.Call, a loader.Args) (any, error) {
	reply, _ := ask(c, payload.M("func", "job_status", "name", a.Get("name"), "fire_event", true), complete("job_status"))
	job, ok := reply.Value("data").(*payload.Map)
	if !ok {
		return payload.NewMap(0), nil
	}
	out := payload.NewMap(job.Len())
	for k, v := range job.All() {
		if at := schedule.TimeOf(v); !at.IsZero() {
			v = dates.Format(at, loader.Text(a.Get("time_fmt")))
		}
		out.Set(k, v)
	}
	return out, nil
}
