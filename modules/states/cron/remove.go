package cron

import (
	"strings"

	"brine/modules/states"
	"brine/wire/payload"
)

type unwanted struct {
	Name       string       `arg:"name"`
	User       string       `arg:"user=root"`
	Identifier any          `arg:"identifier=False"`
	Special    any          `arg:"special=None"`
	KW         *payload.Map `arg:"**kwargs"` // the time of a state cron.present that became absent
}

// absent plans that a line goes. Unlike Salt: test mode looks for a special line where one is named.
func absent(c *states.Call, a unwanted) (states.Plan, error) {
	a.Name = strings.TrimSpace(a.Name)
	id := identified(a.Identifier, a.Name)
	t, err := tab(c, a.User)
	if err != nil {
		return states.Plan{}, err
	}
	kind, fun := "crons", "cron.rm_job"
	kw := payload.M("identifier", id)
	if a.Special != nil {
		kind, fun = "special", "cron.rm_special"
		kw.Set("special", a.Special)
	}
	there := false
	for _, row := range rows(t, kind) {
		there = there || matches(row, a.Name, id) && (a.Special == nil || row.Value("spec") == a.Special)
	}
	apply := func() (states.Done, error) {
		v, err := c.Salt(fun, kw, a.User, a.Name)
		d, err := came(v, err, "Cron", a.Name, a.User)
		return failed(d, err, v, "Cron "+a.Name+" for user "+a.User+" failed to commit with error ")
	}
	return removal(c, "Cron", a.Name, there, apply), nil
}

// removal is the plan for something that is to go.
func removal(c *states.Call, what, name string, there bool, apply func() (states.Done, error)) states.Plan {
	switch {
	case there:
		return named(states.Would(what+" "+name+" is set to be removed", nil, apply), name)
	case c.Test:
		return named(states.Correct(what+" "+name+" is absent"), name)
	}
	return named(states.Correct(what+" "+name+" already absent"), name)
}

type variable struct {
	Name  string `arg:"name"`
	Value any    `arg:"value=None"`
	User  string `arg:"user=root"`
}

// variableOf is the line of a variable; nil: there is none.
func variableOf(c *states.Call, user, name string) (*payload.Map, error) {
	t, err := tab(c, user)
	for _, row := range rows(t, "env") {
		if row.Value("name") == any(name) {
			return row, err
		}
	}
	return nil, err
}

func envPresent(c *states.Call, a variable) (states.Plan, error) {
	row, err := variableOf(c, a.User, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	value := a.Value
	if value == nil {
		value = ""
	}
	text := "Cron env " + a.Name
	switch {
	case row == nil:
		text += " is set to be added"
	case payload.Equal(row.Value("value"), value):
		return states.Correct(text + " already present"), nil
	default:
		text += " is set to be updated"
	}
	return states.Would(text, nil, func() (states.Done, error) {
		v, err := c.Salt("cron.set_env", payload.M("value", a.Value), a.User, a.Name)
		d, err := came(v, err, "Cron env", a.Name, a.User)
		return failed(d, err, v, "Cron env "+a.Name+" for user "+a.User+" failed to commit with error \n")
	}), nil
}

type noVariable struct {
	Name string `arg:"name"`
	User string `arg:"user=root"`
}

func envAbsent(c *states.Call, a noVariable) (states.Plan, error) {
	a.Name = strings.TrimSpace(a.Name)
	row, err := variableOf(c, a.User, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	return removal(c, "Cron env", a.Name, row != nil, func() (states.Done, error) {
		v, err := c.Salt("cron.rm_env", nil, a.User, a.Name)
		d, err := came(v, err, "Cron env", a.Name, a.User)
		return failed(d, err, v, "Cron env "+a.Name+" for user "+a.User+" failed to commit with error ")
	}), nil
}
