// Package cron is the state module cron: commands run at times, or do not, variables are set for them, or a whole table
// is a file of the master. It stands on the execution module cron. Answers to salt/states/cron.py.
package cron

import (
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module cron, where there is the execution module.
func Module() loader.Module {
	return loader.Module{File: "cron", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("present", present, "Let a command run at a time.", "date > /tmp/crontest:", "  cron.present:",
				"    - user: root", "    - minute: 7", "    - identifier: crontest"),
			states.Fn("absent", absent, "Let a command not run at a time.", "date > /tmp/crontest: {cron.absent: []}"),
			states.Fn("file", file, "Let the table of a user be a file.",
				"salt://mycrontab: {cron.file: [{user: deploy}]}"),
			states.Fn("env_present", envPresent, "Let a variable be set for the commands of a user.",
				"MAILTO: {cron.env_present: [{value: root@example.com}]}"),
			states.Fn("env_absent", envAbsent, "Let a variable not be set for the commands of a user.",
				"MAILTO: {cron.env_absent: []}"),
		}
	}}
}

func virtual(p loader.Place) (bool, string) {
	if p.Has("cron.list_tab") {
		return true, ""
	}
	return false, "cron module could not be loaded"
}

// What has to be done about a line.
const (
	add    = "absent"
	update = "update"
	keep   = "present"
)

// tab is the table of a user in its parts.
func tab(c *states.Call, user string) (*payload.Map, error) {
	v, err := c.Salt("cron.list_tab", nil, user)
	m, _ := v.(*payload.Map)
	return m, err
}

// rows are lines of one kind.
func rows(t *payload.Map, kind string) (out []*payload.Map) {
	for _, item := range t.List(kind) {
		if m, ok := item.(*payload.Map); ok {
			out = append(out, m)
		}
	}
	return out
}

type wanted struct {
	Name       string `arg:"name"`
	User       string `arg:"user=root"`
	Minute     any    `arg:"minute=*"`
	Hour       any    `arg:"hour=*"`
	DayMonth   any    `arg:"daymonth=*"`
	Month      any    `arg:"month=*"`
	DayWeek    any    `arg:"dayweek=*"`
	Comment    any    `arg:"comment=None"`
	Commented  any    `arg:"commented=False"`
	Identifier any    `arg:"identifier=False"`
	Special    any    `arg:"special=None"`
}

// identified gives a line its identifier: its command, unless the argument says another one, or none.
func identified(identifier any, name string) any {
	switch identifier {
	case false:
		return name
	case nil:
		return nil
	}
	return python.Str(identifier)
}

func present(c *states.Call, a wanted) (states.Plan, error) {
	a.Name = strings.TrimSpace(a.Name)
	a.Identifier = identified(a.Identifier, a.Name)
	t, err := tab(c, a.User)
	if err != nil {
		return states.Plan{}, err
	}
	apply := func() (states.Done, error) {
		v, err := a.set(c)
		d, err := came(v, err, "Cron", a.Name, a.User)
		return failed(d, err, v, "Cron "+a.Name+" for user "+a.User+" failed to commit with error \n")
	}
	switch a.status(t) {
	case keep:
		return named(states.Correct("Cron "+a.Name+" already present"), a.Name), nil
	case update:
		return named(states.Would("Cron "+a.Name+" is set to be updated", nil, apply), a.Name), nil
	}
	return named(states.Would("Cron "+a.Name+" is set to be added", nil, apply), a.Name), nil
}

func named(p states.Plan, name string) states.Plan {
	p.Name = name
	return p
}

// status is what has to be done for the line to be as wanted.
func (a wanted) status(t *payload.Map) string {
	if a.Special != nil {
		for _, row := range rows(t, "special") {
			if matches(row, a.Name, a.Identifier) {
				return a.compare(row, payload.M("spec", a.Special))
			}
		}
		return add
	}
	lower := func(v any) any {
		if v == nil {
			return nil
		}
		return strings.ToLower(python.Str(v))
	}
	for _, row := range rows(t, "crons") {
		if matches(row, a.Name, a.Identifier) {
			return a.compare(row, payload.M("minute", lower(a.Minute), "hour", lower(a.Hour),
				"daymonth", lower(a.DayMonth), "month", lower(a.Month), "dayweek", lower(a.DayWeek)))
		}
	}
	return add
}

func (a wanted) compare(row, when *payload.Map) string {
	when.Set("identifier", a.Identifier).Set("cmd", a.Name).Set("comment", a.Comment)
	if a.Commented != nil {
		when.Set("commented", a.Commented == true)
	}
	for key, v := range when.All() {
		if changes(row.Value(key), v) {
			return update
		}
	}
	return keep
}

// matches tells whether a line is that of a command or of an identifier.
func matches(row *payload.Map, cmd string, identifier any) bool {
	same := row.Value("cmd") == any(cmd)
	id := row.Value("identifier")
	if !python.Truth(id) {
		return same
	}
	return python.Truth(identifier) && id == identifier
}

// changes tells whether a value has to change: not where nothing is wanted, and not to a random one where there is a
// value already.
func changes(old, wanted any) bool {
	switch {
	case payload.Equal(old, wanted), wanted == nil:
		return false
	case wanted == "random":
		return old == "*"
	}
	return true
}

// set calls the function of the module.
func (a wanted) set(c *states.Call) (any, error) {
	kw := payload.M("user", a.User, "cmd", a.Name, "comment", a.Comment, "commented", a.Commented,
		"identifier", a.Identifier)
	if a.Special != nil {
		return c.Salt("cron.set_special", kw.Set("special", a.Special))
	}
	kw.Set("minute", a.Minute).Set("hour", a.Hour).Set("daymonth", a.DayMonth)
	return c.Salt("cron.set_job", kw.Set("month", a.Month).Set("dayweek", a.DayWeek))
}

// came is what setting a line, or a variable, came to.
func came(v any, err error, what, name, user string) (states.Done, error) {
	if err != nil {
		return states.Done{}, err
	}
	changes := payload.M(user, name)
	switch v {
	case "present":
		return states.Changed(what+" "+name+" already present", nil)
	case "new":
		return states.Changed(what+" "+name+" added to "+user+"'s crontab", changes)
	case "updated":
		return states.Changed(what+" "+name+" updated", changes)
	case "absent":
		return states.Changed(what+" "+name+" already absent", nil)
	case "removed":
		return states.Changed(what+" "+name+" removed from "+user+"'s crontab", changes)
	}
	return states.Done{}, nil
}

// failed is what came to nothing: the text is what crontab says.
func failed(d states.Done, err error, v any, text string) (states.Done, error) {
	if err != nil || d.Comment != nil {
		return d, err
	}
	return states.Failed(text+python.Str(v), nil)
}
