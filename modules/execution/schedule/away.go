package schedule

import (
	"os"
	"path/filepath"

	"brine/config/yaml"
	"brine/modules/loader"
	"brine/modules/schedule"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

type elsewhere struct {
	Name   string       `arg:"name"`
	Target any          `arg:"target"`
	KW     *payload.Map `arg:"**kwargs"`
}

func move(c *loader.Call, a elsewhere) (any, error) {
	ret, moved, err := publish(c, a, "moved")
	if err != nil || !moved {
		return ret, err
	}
	if _, err := c.Call("schedule.delete", []any{a.Name}, nil); err != nil {
		return nil, err
	}
	return ret.Set("comment", "Moved Job "+a.Name+" from schedule."), nil
}

func copyJob(c *loader.Call, a elsewhere) (any, error) {
	ret, copied, err := publish(c, a, "copied")
	if copied {
		ret.Set("comment", "Copied Job "+a.Name+" from schedule to minion(s).")
	}
	return ret, err
}

// publish lets other minions add a job; true when all of them have.
func publish(c *loader.Call, a elsewhere, done string) (*payload.Map, bool, error) {
	name := a.Name
	ret := payload.M("comment", []any{}, "result", true)
	if name == "" {
		ret.Set("comment", "Job name is required.").Set("result", false)
	}
	if set(a.KW, "test") {
		return ret.Set("comment", "Job: "+name+" would be "+done+" from schedule."), false, nil
	}
	var job *payload.Map
	for _, where := range []string{"opts", "pillar"} {
		all, err := jobs(c, listing{all: true, disabled: true, where: where})
		if err != nil {
			return nil, false, err
		}
		if job, _ = all.Value(name).(*payload.Map); job != nil {
			break
		}
	}
	if job == nil {
		return ret.Set("comment", "Job "+name+" does not exist.").Set("result", false), false, nil
	}
	words := []any{}
	for k, v := range job.All() {
		words = append(words, loader.Text(k)+"="+python.Str(v))
	}
	v, err := c.Call("publish.publish", []any{a.Target, "schedule.add", words}, nil)
	if err != nil {
		return nil, false, err
	}
	response, _ := v.(*payload.Map)
	minions, failed := []any{}, []any{}
	for id, answer := range response.All() {
		if minions = append(minions, id); !python.Truth(answer) {
			failed = append(failed, id)
		}
	}
	switch {
	case len(minions) == 0:
		return ret.Set("comment", "no servers answered the published schedule.add command"), false, nil
	case len(failed) > 0:
		return ret.Set("comment", "the following minions return False").Set("minions", failed), false, nil
	}
	return ret.Set("minions", minions), true, nil
}

// reload reads schedule.conf, which is not the file that changes are written to.
func reload(c *loader.Call, _ struct{}) (any, error) {
	comments, result := []any{}, true
	say := func(ok bool, good, bad string) {
		if !ok {
			good, result = bad, false
		}
		comments = append(comments, good)
	}
	if c.Pillar().Has("schedule") {
		bus := c.Host().Events
		say(bus != nil && bus.FireLocal(c.Ctx, event.TagPillarRefresh, payload.NewMap(0)),
			"Reloaded schedule from pillar on minion.", "Failed to reload schedule from pillar on minion.")
	}
	b, err := os.ReadFile(filepath.Join(filepath.Dir(schedule.Path(c.Opts())), "schedule.conf"))
	if err != nil {
		return payload.M("comment", comments, "result", result), nil
	}
	v, err := yaml.Load(b)
	if err != nil {
		comments = append(comments, "Unable to read existing schedule file: "+err.Error())
	}
	if all, ok := v.(*payload.Map); ok && python.Truth(all.Value("schedule")) {
		say(tell(c, payload.M("func", "reload", "schedule", all)),
			"Reloaded schedule on minion from schedule.conf.",
			"Failed to reload schedule on minion from schedule.conf.")
	} else {
		say(false, "", "Failed to reload schedule on minion.  Saved file is empty or invalid.")
	}
	return payload.M("comment", comments, "result", result), nil
}
