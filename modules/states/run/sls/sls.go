// Package sls makes one map of high data of the SLS files that a minion is to have: it renders them through a Source,
// follows their includes, depth first, brings short forms into the full one, gives states their automatic order, and
// merges all. What is wrong with a file is a text in Salt's words. The package reads and renders nothing itself.
// Answers to BaseHighState.render_state and render_highstate of salt/state.py.
package sls

import (
	"context"
	"fmt"
	"strings"

	"brine/modules/loader"
	"brine/modules/states/run/high"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// Source has the SLS of environments. An error of it ends the compilation, save one of Render.
type Source interface {
	// Envs lists the environments.
	Envs(ctx context.Context) ([]string, error)
	// States lists the names of the SLS of an environment, in order.
	States(ctx context.Context, env string) ([]string, error)
	// Find is the file of an SLS; init says that it is the init.sls of a folder. It is "" where there is none.
	Find(ctx context.Context, sls, env string) (file string, init bool, err error)
	// Render renders a file. Its error is told as one of the SLS.
	Render(ctx context.Context, file, sls, env string) (any, error)
}

// firstOrder is the automatic order of the first state.
const firstOrder = 10000

// maxIncludes is how deep includes may lie in each other.
const maxIncludes = 200

// Compiler renders and merges. It is good for one compilation, by one goroutine.
type Compiler struct {
	*Available
	auto     bool
	order    int64
	rendered map[string]bool // ENV:SLS
	depth    int             // of includes
	noMap    any             // what an SLS renders to that is no map; nil: it is one
	fault    error           // what ends the compilation
}

// New returns a compiler. auto says that states without an order get one as they stand (state_auto_order).
func New(available *Available, auto bool) *Compiler {
	return &Compiler{Available: available, auto: auto, order: firstOrder, rendered: map[string]bool{}}
}

// High is the high data of the SLS that are wanted, {env: [name or glob, ...]}, and what is wrong with them. The IDs of
// Salt's own stand in it: extensions and excludes are not carried out.
func (c *Compiler) High(ctx context.Context, wanted *payload.Map) (all *payload.Map, errs []string, err error) {
	all = payload.NewMap(0)
	var names []string // of the environment before, where one does not exist, as in Salt
	for key, v := range wanted.All() {
		env := python.Str(key)
		list, _ := v.([]any)
		for _, item := range list {
			name := python.Str(item)
			if c.has(ctx, env) {
				names = c.filter(ctx, env, name)
			} else {
				errs = append(errs, fmt.Sprintf("No matching salt environment for environment '%s' found", env))
			}
			if len(names) == 0 {
				names = []string{name}
			}
			errs = append(errs, c.take(ctx, all, wanted, env, name, names)...)
		}
	}
	onceExtended(all)
	if c.fault == nil {
		c.fault = context.Cause(ctx)
	}
	return all, errs, c.fault
}

// take renders the SLS that one name means.
func (c *Compiler) take(ctx context.Context, all, wanted *payload.Map, env, name string, names []string) []string {
	var out []string
	for _, sls := range names {
		if c.rendered[env+":"+sls] {
			continue
		}
		c.noMap = nil
		state, errs := c.render(ctx, sls, env, wanted)
		if c.noMap != nil {
			errs = append(errs, "Error when rendering state with contents: "+python.StrOrdered(c.noMap))
		}
		if state.Len() > 0 {
			errs = append(errs, merge(all, state)...)
		}
		for i, text := range errs {
			if strings.Contains(text, "is not available") && strings.Contains(text, "SLS "+name+" in saltenv") {
				errs[i] = fmt.Sprintf("No matching sls found for '%s' in env '%s'", name, env)
			}
		}
		out = append(out, errs...)
	}
	return out
}

// onceExtended makes one entry of each extension, and drops those that are there twice.
func onceExtended(all *payload.Map) {
	list, ok := all.Value(high.ExtendKey).([]any)
	if !ok {
		return
	}
	var once []any
	for _, item := range list {
		m, _ := item.(*payload.Map)
		for name, body := range m.All() {
			one := payload.NewMap(1).Set(name, body)
			if !contains(once, one) {
				once = append(once, one)
			}
		}
	}
	all.Set(high.ExtendKey, once)
}

func contains(list []any, v any) bool {
	for _, item := range list {
		if payload.Equal(item, v) {
			return true
		}
	}
	return false
}

// merge puts the IDs of an SLS into all. Source: merge_included_states.
func merge(all, state *payload.Map) (errs []string) {
	for _, key := range []string{high.ExtendKey, high.ExcludeKey} {
		if more, ok := state.Value(key).([]any); ok {
			list, _ := all.Value(key).([]any)
			all.Set(key, append(list, more...))
			state.Delete(key)
		}
	}
	for id, v := range state.All() {
		old, known := all.Get(id)
		if !known || payload.Equal(old, v) {
			continue
		}
		was, isMap := old.(*payload.Map)
		is, alsoMap := v.(*payload.Map)
		if isMap && alsoMap { // else something was told of it
			errs = append(errs, fmt.Sprintf("Detected conflicting IDs, SLS IDs need to be globally unique.\n    The "+
				"conflicting ID is '%s' and is found in SLS '%s:%s' and SLS '%s:%s'", python.Str(id),
				was.Str(high.EnvKey), was.Str(high.SLSKey), is.Str(high.EnvKey), is.Str(high.SLSKey)))
		}
	}
	all.Update(state)
	return errs
}

// render renders an SLS with what it includes.
func (c *Compiler) render(ctx context.Context, sls, env string, wanted *payload.Map) (*payload.Map, []string) {
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > maxIncludes { // Unlike Salt: it fails with a traceback at about there
		return nil, []string{fmt.Sprintf("SLS %s in saltenv %s is included %d levels deep", sls, env, c.depth-1)}
	}
	file, init, err := c.source.Find(ctx, sls, env)
	if err != nil || c.fault != nil {
		c.fail(err)
		return nil, nil
	}
	if file == "" {
		return nil, []string{fmt.Sprintf("Specified SLS %s in saltenv %s is not available on the salt master or "+
			"through a configured fileserver", sls, env)}
	}
	out, err := c.source.Render(ctx, file, sls, env)
	c.rendered[env+":"+sls] = true
	if err != nil {
		return nil, []string{renderError(err, sls, env)}
	}
	if !python.Truth(out) {
		return nil, nil
	}
	state, ok := out.(*payload.Map)
	if !ok {
		if c.depth == 1 { // what is included is told of by the first text alone
			c.noMap = out
		}
		return nil, []string{fmt.Sprintf("SLS %s does not render to a dictionary", sls)}
	}
	s := &oneSLS{Compiler: c, sls: sls, env: env, init: init, state: state, wanted: wanted}
	includes := s.includes()
	s.extend()
	s.exclude()
	s.declare()
	for _, include := range includes {
		s.include(ctx, include)
	}
	c.autoOrder(state)
	return state, s.errs
}

// renderError is what is told of a file that does not render. Unlike Salt no traceback follows.
func renderError(err error, sls, env string) string {
	if loader.ClassOf(err) == "salt.exceptions.SaltRenderError" {
		return fmt.Sprintf("Rendering SLS '%s:%s' failed: %s", env, sls, loader.Message(err))
	}
	return fmt.Sprintf("Rendering SLS %s failed, render error: %s", sls, loader.Message(err))
}

// fail notes the first error that ends the compilation.
func (c *Compiler) fail(err error) {
	if c.fault == nil {
		c.fault = err
	}
}

// has tells whether there is an environment.
func (c *Compiler) has(ctx context.Context, env string) bool {
	ok, err := c.Has(ctx, env)
	c.fail(err)
	return ok
}

// filter lists the SLS of an environment that a name or a glob means.
func (c *Compiler) filter(ctx context.Context, env, name string) []string {
	names, err := c.Filter(ctx, env, name)
	c.fail(err)
	return names
}

// Available are the environments with the names of their SLS. Each list is asked for once.
type Available struct {
	source Source
	envs   []string
	states map[string]*states
}

type states struct {
	list []string
	has  map[string]bool
}

// NewAvailable asks a source.
func NewAvailable(source Source) *Available {
	return &Available{source: source, states: map[string]*states{}}
}

// Envs lists the environments, base first.
func (a *Available) Envs(ctx context.Context) ([]string, error) {
	if a.envs != nil {
		return a.envs, nil
	}
	all, err := a.source.Envs(ctx)
	if err != nil {
		return nil, err
	}
	a.envs = []string{"base"}
	for _, env := range all {
		if env != "base" {
			a.envs = append(a.envs, env)
		}
	}
	return a.envs, nil
}

// Has tells whether there is an environment.
func (a *Available) Has(ctx context.Context, env string) (bool, error) {
	if env == "base" {
		return true, nil
	}
	all, err := a.Envs(ctx)
	for _, e := range all {
		if e == env {
			return true, nil
		}
	}
	return false, err
}

// States lists the SLS of an environment.
func (a *Available) States(ctx context.Context, env string) ([]string, error) {
	s, err := a.of(ctx, env)
	if err != nil {
		return nil, err
	}
	return s.list, nil
}

func (a *Available) of(ctx context.Context, env string) (*states, error) {
	if s, ok := a.states[env]; ok {
		return s, nil
	}
	list, err := a.source.States(ctx, env)
	if err != nil {
		return nil, err
	}
	s := &states{list: list, has: make(map[string]bool, len(list))}
	for _, name := range list {
		s.has[name] = true
	}
	a.states[env] = s
	return s, nil
}

// Filter lists the SLS of an environment that a name or a glob means.
func (a *Available) Filter(ctx context.Context, env, name string) (out []string, err error) {
	s, err := a.of(ctx, env)
	if err != nil {
		return nil, err
	}
	if !fnmatch.HasMagic(name) {
		if s.has[name] {
			return []string{name}, nil
		}
		return nil, nil
	}
	glob := fnmatch.Compile(name)
	for _, sls := range s.list {
		if glob.Match(sls) {
			out = append(out, sls)
		}
	}
	return out, nil
}
