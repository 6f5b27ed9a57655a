package schedule

import (
	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/modules/schedule"
	"brine/modules/schedule/dates"
	"brine/wire/payload"
	"brine/wire/python"
)

type listed struct {
	All      bool `arg:"show_all=False"`
	Disabled bool `arg:"show_disabled=True"`
	Where    any  `arg:"where=None"`
	YAML     bool `arg:"return_yaml=True"`
	Offline  bool `arg:"offline=False"`
}

func list(c *loader.Call, a listed) (any, error) {
	all, err := jobs(c, listing{all: a.All, disabled: a.Disabled, where: a.Where, offline: a.Offline})
	if err != nil || !a.YAML {
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

type enabled struct {
	Name any `arg:"name=None"`
}

func isEnabled(c *loader.Call, a enabled) (any, error) {
	all, err := jobs(c, listing{disabled: true})
	if err != nil {
		return nil, err
	}
	key, std := "enabled", any(true)
	if python.Truth(a.Name) {
		key, std = loader.Text(a.Name), payload.NewMap(0)
	}
	if v, ok := all.Get(key); ok {
		return v, nil
	}
	return std, nil
}

func nextFireTime(c *loader.Call, a ofJob) (any, error) {
	ret := payload.M("result", true)
	if a.Name == "" {
		ret.Set("comment", "Job name is required.").Set("result", false)
	}
	reply, _ := ask(c, payload.M("name", a.Name, "func", "get_next_fire_time"), complete("next_fire_time"))
	if next, ok := reply.Get("next_fire_time"); ok {
		return ret.Set("next_fire_time", next), nil
	}
	return ret.Set("comment", "next fire time not available."), nil
}

type noted struct {
	Name   any    `arg:"name"`
	Format string `arg:"time_fmt=%Y-%m-%dT%H:%M:%S"`
}

func jobStatus(c *loader.Call, a noted) (any, error) {
	request := payload.M("func", "job_status", "name", a.Name, "fire_event", true)
	reply, _ := ask(c, request, complete("job_status"))
	job, ok := reply.Value("data").(*payload.Map)
	if !ok {
		return payload.NewMap(0), nil
	}
	out := payload.NewMap(job.Len())
	for k, v := range job.All() {
		if at := schedule.TimeOf(v); !at.IsZero() {
			v = dates.Format(at, a.Format)
		}
		out.Set(k, v)
	}
	return out, nil
}
