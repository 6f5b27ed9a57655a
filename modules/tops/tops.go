// Package tops asks systems outside of the fleet which states a minion is to have, beside those of the top file (option
// master_tops). Of Salt's it has ext_nodes; the others are refused by name. It answers to salt/tops and
// MasterApi._master_tops of salt/daemons/masterapi.py.
package tops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/config/yaml"
	"brine/modules/host/program"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/shlex"
)

// Bounds of what is asked: programs at a time, and bytes of the answer of each.
const (
	atOnce = 8
	most   = 16 << 20
)

// extNodes is the one that there is.
const extNodes = "ext_nodes"

// Tops are those that the configuration names. Any number of goroutines may ask.
type Tops struct {
	command []string // of ext_nodes; empty: it is not asked
	places  chan struct{}
}

// New reads the option master_tops. What is there but not known here is an error that names it: states would be missed
// silently.
func New(option *payload.Map) (*Tops, error) {
	t := &Tops{places: make(chan struct{}, atOnce)}
	var missed []string
	for key := range option.All() {
		if name := python.Str(key); name != extNodes {
			missed = append(missed, name)
		}
	}
	if len(missed) > 0 {
		slices.Sort(missed)
		return nil, fmt.Errorf("option 'master_tops' names %s: brine has ext_nodes only", strings.Join(missed, ", "))
	}
	command := option.Value(extNodes)
	if !python.Truth(command) {
		return t, nil
	}
	line, ok := command.(string)
	if !ok {
		return nil, fmt.Errorf("option 'master_tops': ext_nodes is %s: it must be a command", python.Repr(command))
	}
	words, err := shlex.Split(line)
	if err != nil || len(words) == 0 {
		return nil, fmt.Errorf("option 'master_tops': ext_nodes is %s: it must be a command", python.Repr(command))
	}
	for _, word := range words {
		t.command = append(t.command, shlex.Quote(word)) // there is no shell: the quotes stay, as in Salt
	}
	return t, nil
}

// Of is which states a minion is to have, by environment: {env: [sls, ...]}; empty where nobody says any. ctx ends the
// program.
func (t *Tops) Of(ctx context.Context, id string) (*payload.Map, error) {
	if len(t.command) == 0 {
		return payload.NewMap(0), nil
	}
	if strings.HasPrefix(id, "-") { // Unlike Salt: the program would take it for an option
		return nil, fmt.Errorf("ext_nodes: the minion id %s looks like an option", python.Repr(id))
	}
	select {
	case t.places <- struct{}{}:
		defer func() { <-t.places }()
	case <-ctx.Done():
		return nil, fmt.Errorf("ext_nodes: %w", context.Cause(ctx))
	}
	out, err := program.Run(ctx, program.Spec{Argv: append(slices.Clone(t.command), shlex.Quote(shlex.Quote(id))),
		Output: program.NewBudget(most)})
	switch {
	case err != nil:
		return nil, fmt.Errorf("ext_nodes: %w", err)
	case out.Code != 0:
		return nil, fmt.Errorf("ext_nodes: %s returned exit status %d", t.command[0], out.Code)
	case out.Lost > 0:
		return nil, fmt.Errorf("ext_nodes: %s writes more than %d bytes", t.command[0], most)
	}
	v, err := yaml.Load(out.Stdout)
	if err != nil {
		return nil, fmt.Errorf("ext_nodes: %s: %w", t.command[0], err)
	}
	return classes(v)
}

// classes are those of an answer: {classes: [...] or {class: ...}, environment: ...}.
func classes(v any) (*payload.Map, error) {
	answer, ok := v.(*payload.Map)
	if !ok {
		return nil, fmt.Errorf("ext_nodes: the answer is %s and not a map", python.Type(v))
	}
	env, ok := answer.Get("environment")
	if !ok {
		env = "base"
	}
	switch env.(type) {
	case []any, *payload.Map:
		return nil, fmt.Errorf("ext_nodes: the environment is %s and no name", python.Repr(env))
	}
	out := payload.NewMap(1)
	switch list := answer.Value("classes").(type) {
	case *payload.Map:
		out.Set(env, list.Keys())
	case []any:
		out.Set(env, list)
	}
	return out, nil
}
