// Package debconfmod is the state module debconf: answers that packages are given when they are installed. Answers to
// salt/states/debconfmod.py.
package debconfmod

import (
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module debconf.
func Module() loader.Module {
	return loader.Module{File: "debconfmod", Name: "debconf", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("set", set, "Ensure that packages have answers.", "nullmailer-debconf:", "  debconf.set:",
				"    - name: nullmailer", "    - data:",
				"        'shared/mailname': {'type': 'string', 'value': 'server.domain.tld'}"),
			states.Fn("set_file", setFile, "Set the answers of a file.", "mysql-server-5.5:", "  debconf.set_file:",
				"    - source: salt://pkg/mysql-server-5.5/debconf.ini"),
		}
	}}
}

func virtual(p loader.Place) (bool, string) {
	if family, _ := p.Grain("os_family"); family != "Debian" {
		return false, "debconf state only runs on Debian systems"
	}
	if !p.Has("debconf.show") {
		return false, "debconf module could not be loaded"
	}
	return true, ""
}

type fileArgs struct {
	Name     any          `arg:"name"`
	Source   any          `arg:"source"`
	Template any          `arg:"template=None"`
	Context  any          `arg:"context=None"`
	Defaults any          `arg:"defaults=None"`
	KW       *payload.Map `arg:"**kwargs"`
}

func setFile(c *states.Call, a fileArgs) (states.Plan, error) {
	for _, m := range []struct {
		v    any
		name string
	}{{a.Context, "Context"}, {a.Defaults, "Defaults"}} {
		if _, isMap := m.v.(*payload.Map); m.v != nil && !isMap {
			return states.Wrong(m.name + " must be formed as a dict"), nil
		}
	}
	return states.Would("Debconf selections would have been set.", nil, func() (states.Done, error) {
		kw := a.KW.Clone()
		if !kw.Has("saltenv") {
			kw.Set("saltenv", c.Saltenv)
		}
		var ok any
		var err error
		if python.Truth(a.Template) {
			ok, err = c.Salt("debconf.set_template", kw, a.Source, a.Template, orEmpty(a.Context), orEmpty(a.Defaults))
		} else {
			ok, err = c.Salt("debconf.set_file", kw, a.Source)
		}
		if err != nil {
			return states.Done{}, err
		}
		if !python.Truth(ok) {
			return states.Failed("Unable to set debconf selections from file.", nil)
		}
		return states.Changed("Debconf selections were set.", nil)
	}), nil
}

func orEmpty(v any) any {
	if v == nil {
		return payload.NewMap(0)
	}
	return v
}

type setArgs struct {
	Name string       `arg:"name"`
	Data any          `arg:"data"`
	KW   *payload.Map `arg:"**kwargs"`
}

// answer is one that is to be set.
type answer struct {
	question, kind string
	value          any
}

// shown is what changes tell of it. Unlike Salt: test mode does not show passwords.
func (a answer) shown() string {
	if a.kind == "password" {
		return "(password hidden)"
	}
	return python.Str(a.value)
}

// answers reads the data of a state. Unlike Salt: what is no answer is an error that says so.
func answers(data any) (out []answer, err error) {
	all, ok := data.(*payload.Map)
	if !ok {
		return nil, loader.InvocErr("data must be a map of questions, not %s", python.Type(data))
	}
	for key, v := range all.All() {
		of, ok := v.(*payload.Map)
		if !ok || !of.Has("type") || !of.Has("value") {
			return nil, loader.InvocErr("the answer to %s must be a map with type and value", python.Str(key))
		}
		a := answer{python.Str(key), python.Str(of.Value("type")), of.Value("value")}
		if a.kind == "boolean" {
			a.value = map[bool]string{true: "true", false: "false"}[python.Truth(a.value)]
		}
		out = append(out, a)
	}
	return out, nil
}

func set(c *states.Call, a setArgs) (states.Plan, error) {
	all, err := answers(a.Data)
	if err != nil {
		return states.Plan{}, err
	}
	v, err := c.Salt("debconf.show", nil, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	there := map[[3]string]bool{}
	list, _ := v.([]any)
	for _, row := range list {
		if cols, ok := row.([]any); ok && len(cols) == 3 {
			there[[3]string{python.Str(cols[0]), python.Str(cols[1]), python.Str(cols[2])}] = true
		}
	}
	comment, changes := "", payload.NewMap(0)
	var todo []answer
	for _, one := range all {
		if there[[3]string{one.question, one.kind, python.Str(one.value)}] {
			if comment == "" {
				comment = "Unchanged answers: "
			}
			comment += one.question + " "
			continue
		}
		todo = append(todo, one)
		changes.Set(one.question, "New value: "+one.shown())
	}
	if len(todo) == 0 {
		return states.Correct("All specified answers are already set"), nil
	}
	return states.Would(comment, changes, func() (states.Done, error) { return apply(c, a.Name, comment, todo) }), nil
}

func apply(c *states.Call, name, comment string, todo []answer) (states.Done, error) {
	changes, result := payload.NewMap(len(todo)), true
	for _, one := range todo {
		ok, err := c.Salt("debconf.set", nil, name, one.question, one.kind, one.value)
		if err != nil {
			return states.Done{}, err
		}
		if !python.Truth(ok) {
			result, comment = false, "Some settings failed to be applied."
			changes.Set(one.question, "Failed to set!")
			continue
		}
		changes.Set(one.question, one.shown())
	}
	return states.Done{Result: result, Comment: comment, Changes: changes}, nil
}
