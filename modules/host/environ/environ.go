// Package environ holds the environment variables that functions see and change. Salt runs each job in a process of its
// own, so that environ.setval changes nothing for other jobs. A job of brine is a goroutine of the daemon by default:
// what it changes is kept in its context, over the variables of the process, and goes with it.
//
// Options of a master or a minion that stand in the environment are not shown: they may be secrets.
package environ

import (
	"context"
	"os"
	"strings"
	"sync"

	"brine/config"
)

// Vars are the variables of the process with the changes of one job over them. They are safe for concurrent use.
type Vars struct {
	mu      sync.Mutex
	changed map[string]*string // nil: the job has removed it
	order   []string           // names that the job has changed, in order of the first change
}

type key struct{}

// With gives a context variables of its own, unless it has some.
func With(ctx context.Context) context.Context {
	return In(ctx, &Vars{})
}

// In gives a context the variables of somebody else, unless it has some.
func In(ctx context.Context, v *Vars) context.Context {
	if _, ok := ctx.Value(key{}).(*Vars); ok {
		return ctx
	}
	return context.WithValue(ctx, key{}, v)
}

// Of are the variables of a context. Without any, those of the process are there, and a change is forgotten.
func Of(ctx context.Context) *Vars {
	if v, ok := ctx.Value(key{}).(*Vars); ok {
		return v
	}
	return &Vars{}
}

// Get is the value of a variable.
func (v *Vars) Get(name string) (string, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if value, ok := v.changed[name]; ok {
		if value == nil {
			return "", false
		}
		return *value, true
	}
	if config.IsVariable(name) {
		return "", false
	}
	return os.LookupEnv(name)
}

// Set gives a variable a value.
func (v *Vars) Set(name, value string) { v.change(name, &value) }

// Unset removes a variable.
func (v *Vars) Unset(name string) { v.change(name, nil) }

func (v *Vars) change(name string, value *string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.changed == nil {
		v.changed = map[string]*string{}
	}
	if _, ok := v.changed[name]; !ok {
		v.order = append(v.order, name)
	}
	v.changed[name] = value
}

// List are lines "name=value", options left out: what os.Environ would say in a process of the job's own.
func (v *Vars) List() []string { return v.list(false) }

// ForPrograms are the same lines with the options of the process among them: a program of the same user finds what it
// would find as a child of Salt's daemon.
func (v *Vars) ForPrograms() []string { return v.list(true) }

func (v *Vars) list(options bool) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []string
	seen := map[string]bool{}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		switch value, changed := v.changed[name]; {
		case changed && value != nil:
			out = append(out, name+"="+*value)
		case !changed && (options || !config.IsVariable(name)):
			out = append(out, pair)
		}
		seen[name] = true
	}
	for _, name := range v.order {
		if value := v.changed[name]; value != nil && !seen[name] {
			out = append(out, name+"="+*value)
		}
	}
	return out
}
