// Package run compiles states: from top files and SLS files to chunks in their order. It puts together what is below
// it: top says which SLS a minion is to have, sls renders and merges them, high checks the data and brings extensions,
// excludes and the requisites of other states into it, low makes chunks of it. It is pure: what reads, renders and
// matches comes in by Options. Answers to BaseHighState and State of salt/state.py, as far as they compile.
package run

import (
	"context"
	"slices"

	"brine/modules/loader"
	"brine/modules/states/run/high"
	"brine/modules/states/run/low"
	"brine/modules/states/run/sls"
	"brine/modules/states/run/top"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// Options are what a Compiler stands on.
type Options struct {
	Source top.Source
	Opts   *payload.Map // options of the minion, with those that its master sets; only read
	Match  top.Matcher
	// Watches tells whether a state module has a function for watch (mod_watch).
	Watches func(module string) bool
	// Aggregates tells whether a state module can carry several chunks out together (mod_aggregate); nil: none can.
	Aggregates func(module string) bool
	// Forbidden are globs of state functions that are left out (grain state_runs_disabled).
	Forbidden []string
	Log       func(text string)
}

// Compiler compiles once, for one goroutine: automatic orders go on where the last SLS ended.
type Compiler struct {
	opt       Options
	available *sls.Available
	tops      *top.Tops
	sls       *sls.Compiler
	left      []Disabled
}

// New returns a compiler.
func New(opt Options) *Compiler {
	source := ordered{opt.Source, opt.Opts}
	available := sls.NewAvailable(source)
	topSaltenv := ""
	if v := opt.Opts.Value("state_top_saltenv"); python.Truth(v) {
		topSaltenv = python.Str(v)
	}
	auto, set := opt.Opts.Get("state_auto_order")
	return &Compiler{opt: opt, available: available,
		sls: sls.New(available, !set || python.Truth(auto)),
		tops: top.New(top.Options{Strategy: opt.Opts.Str("top_file_merging_strategy"),
			DefaultTop: loader.Text(opt.Opts.Value("default_top")), Saltenv: loader.Text(opt.Opts.Value("saltenv")),
			TopSaltenv: topSaltenv, Log: opt.Log}, source, available)}
}

// ordered is a source whose environments are in the order of the options.
type ordered struct {
	top.Source
	opts *payload.Map
}

// Envs lists the environments that count: base and those of file_roots first, or what env_order says. Source:
// BaseHighState._get_envs.
func (o ordered) Envs(ctx context.Context) ([]string, error) {
	there, err := o.Source.Envs(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	if wanted := loader.StringList(o.opts.Value("env_order")); len(wanted) > 0 {
		for _, env := range wanted {
			if !slices.Contains(out, env) && (len(there) == 0 || slices.Contains(there, env)) {
				out = append(out, env)
			}
		}
		return out, nil
	}
	all := []string{"base"}
	for key := range o.opts.Map("file_roots").All() {
		all = append(all, python.Str(key))
	}
	for _, env := range append(all, there...) {
		if !slices.Contains(out, env) {
			out = append(out, env)
		}
	}
	return out, nil
}

// Matches are the SLS that the minion is to have, {environment: [SLS, ...]}. What is wrong with the top files is told
// beside them.
func (c *Compiler) Matches(ctx context.Context) (matches *payload.Map, errs []string, err error) {
	t, err := c.tops.Get(ctx)
	if err != nil {
		return nil, nil, err
	}
	errs = top.Verify(t)
	matches, err = c.tops.Matches(ctx, t, c.opt.Match)
	if err != nil && len(errs) > 0 && ctx.Err() == nil {
		return nil, errs, nil // what is wrong is told already
	}
	return matches, errs, err
}

// High is the high data of SLS, {environment: [name or glob, ...]}, as they are written: extensions and excludes stand
// in it under keys of their own.
func (c *Compiler) High(ctx context.Context, wanted *payload.Map) (*payload.Map, []string, error) {
	return c.sls.High(ctx, wanted)
}

// Chunks are the chunks of high data as it is written, in their order. It must have been verified.
func (c *Compiler) Chunks(data *payload.Map) ([]*payload.Map, []string) {
	return low.Compile(data, c.rules())
}

// Dot describes in the language of Graphviz which chunks of high data, as it is written, wait for which.
func (c *Compiler) Dot(data *payload.Map) string { return low.Dot(data, c.rules()) }

// rules are how chunks are made.
func (c *Compiler) rules() low.Options {
	return low.Options{Disabled: c.disabled(), Watches: c.opt.Watches, Allowed: c.allowed,
		Aggregates: c.aggregates}
}

// disabled are the requisites that mean nothing.
func (c *Compiler) disabled() []string {
	v := c.opt.Opts.Value("disabled_requisites")
	if _, isList := v.([]any); isList {
		return payload.Texts(v)
	}
	return []string{loader.Text(v)}
}

// aggregates tells whether a chunk may be carried out together with others (State._allow_aggregate).
func (c *Compiler) aggregates(chunk *payload.Map) bool {
	want, own := chunk.Get("aggregate")
	if !own {
		want = c.opt.Opts.Value("state_aggregate")
	}
	list, isList := want.([]any)
	if want != true && !(isList && slices.Contains(list, chunk.Value("state"))) {
		return false
	}
	return c.opt.Aggregates != nil && c.opt.Aggregates(chunk.Str("state"))
}

// allowed tells whether nobody has disabled the function of a chunk.
func (c *Compiler) allowed(chunk *payload.Map) bool {
	fun := chunk.Str("state") + "." + python.Str(chunk.Value("fun"))
	for _, glob := range c.opt.Forbidden {
		if fnmatch.Match(glob, fun) {
			c.left = append(c.left, Disabled{chunk, glob})
			return false
		}
	}
	return true
}

// Disabled is a chunk that is left out because somebody has disabled its function.
type Disabled struct {
	Chunk   *payload.Map
	Pattern string // that forbids it
}

// Steps is Low with what each chunk waits for, and with the chunks that are left out.
func (c *Compiler) Steps(data *payload.Map, errs []string) ([]*low.Step, []Disabled, []string) {
	if errs = prepared(data, c.disabled(), errs); len(errs) > 0 {
		return nil, nil, errs
	}
	return c.StepsOf(data)
}

// StepsOf are the steps of high data as it is written.
func (c *Compiler) StepsOf(data *payload.Map) ([]*low.Step, []Disabled, []string) {
	c.left = nil
	steps, errs := low.Order(data, c.rules())
	if len(errs) > 0 {
		return nil, nil, errs
	}
	return steps, c.left, nil
}

// prepared brings extensions, excludes and the requisites of other states into high data.
func prepared(data *payload.Map, disabled, errs []string) []string {
	errs = append(errs, high.Extend(data)...)
	errs = append(errs, high.Verify(data)...)
	errs = append(errs, high.RequisitesIn(data, disabled)...)
	high.Exclude(data)
	return errs
}

// Low brings extensions, excludes and the requisites of other states into high data, which it changes, and makes chunks
// of it, in their order. With errors there are no chunks.
func (c *Compiler) Low(data *payload.Map, errs []string) ([]*payload.Map, []string) {
	if errs = prepared(data, c.disabled(), errs); len(errs) > 0 {
		return nil, errs
	}
	chunks, errs := c.Chunks(data)
	if len(errs) > 0 {
		return nil, errs
	}
	return chunks, nil
}

// Usage tells for each environment which of its SLS the minion is to have, and which not.
func (c *Compiler) Usage(ctx context.Context) (*payload.Map, []string, error) {
	matches, errs, err := c.Matches(ctx)
	if err != nil || len(errs) > 0 {
		return nil, errs, err
	}
	envs, err := c.available.Envs(ctx)
	if err != nil {
		return nil, nil, err
	}
	out := payload.NewMap(len(envs))
	for _, env := range envs {
		all, err := c.available.States(ctx, env)
		if err != nil {
			return nil, nil, err
		}
		out.Set(env, usage(all, matches.List(env)))
	}
	return out, nil, nil
}

func usage(all []string, wanted []any) *payload.Map {
	used, unused := []any{}, []any{}
	for _, name := range all {
		if slices.Contains(wanted, any(name)) {
			used = append(used, name)
		} else {
			unused = append(unused, name)
		}
	}
	return payload.M("used", used, "unused", unused, "count_all", len(all), "count_used", len(used), "count_unused",
		len(unused))
}
