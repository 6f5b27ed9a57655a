package loader

import (
	"context"
	"log/slog"
	"sync/atomic"

	"brine/modules/host/environ"
	"brine/wire/payload"
)

// Env is what all calls of one minion share. The three providers are asked when a function reads them and may
// compute lazily; they return maps that are only read. nil stands for an empty map.
type Env struct {
	Registry *Registry
	ID       string
	Opts     func() *payload.Map
	Grains   func() *payload.Map
	GrainOf  func(name string) (any, bool) // one grain without the others; nil: Grains is asked
	Pillar   func() *payload.Map
	Host     Host
}

// Call is what a function gets of its surroundings. It is made per job and per nested call.
type Call struct {
	Ctx context.Context // ends when the job is killed or its daemon stops
	Fun string          // the function running, "test.echo"
	JID string
	ID  string // the minion's id
	Env *Env

	top   *jobState
	depth int
}

// jobState is shared by a job's first call and every call made from it, as __context__ is in Salt.
type jobState struct {
	retcode atomic.Int64
	load    *payload.Map
	grains  changedGrains
}

// NewCall makes the call of one job. load is the publish load, or what stands for it; it may be nil.
func NewCall(ctx context.Context, env *Env, fun string, load *payload.Map) *Call {
	return &Call{Ctx: environ.With(ctx), Fun: fun, JID: load.Str("jid"), ID: env.ID, Env: env,
		top: &jobState{load: load}}
}

// Opts are the minion's options.
func (c *Call) Opts() *payload.Map { return provided(c.Env.Opts) }

// WithResources is a copy of the options of a minion with what Salt adds to them at work: the resources that it
// manages, none here.
func WithResources(opts *payload.Map) *payload.Map {
	out := opts.Clone()
	if !out.Has("resources") {
		out.Set("resources", payload.NewMap(0))
	}
	return out
}

// Grain is one grain of the host.
func (e *Env) Grain(name string) (any, bool) {
	if e.GrainOf != nil {
		return e.GrainOf(name)
	}
	return provided(e.Grains).Get(name)
}

// Has tells whether there is an execution function of that name.
func (e *Env) Has(name string) bool {
	_, ok := e.Registry.Lookup(name)
	return ok
}

// Pillar is the minion's pillar.
func (c *Call) Pillar() *payload.Map { return provided(c.Env.Pillar) }

func provided(f func() *payload.Map) *payload.Map {
	if f == nil {
		return nil
	}
	return f()
}

// Host is what the process offers.
func (c *Call) Host() *Host { return &c.Env.Host }

// Registry holds all functions.
func (c *Call) Registry() *Registry { return c.Env.Registry }

// Load is the publish load of the job; nil when there is none.
func (c *Call) Load() *payload.Map { return c.top.load }

// SetRetcode sets the exit code of the job; the last one set counts.
func (c *Call) SetRetcode(code int) { c.top.retcode.Store(int64(code)) }

// Retcode is the exit code set so far.
func (c *Call) Retcode() int { return int(c.top.retcode.Load()) }

// Nested tells whether another function made this call: cmd.run then defaults to no shell.
func (c *Call) Nested() bool { return c.depth > 0 }

// Call runs another function with typed arguments. The nested call shares the job's exit code and gets no
// __pub_* keywords, as a call through __salt__ does.
func (c *Call) Call(name string, args []any, kw *payload.Map) (any, error) {
	f, ok := c.Env.Registry.Lookup(name)
	if !ok {
		return nil, &NotAvailable{Name: name, Message: c.Env.Registry.MissingText(name)}
	}
	bound, err := Bind(f, args, kw)
	if err != nil {
		return nil, err
	}
	nested := *c
	nested.Fun, nested.depth = name, c.depth+1
	return f.Run(&nested, bound)
}

// Log hands a line to the log of the process.
func (c *Call) Log(level slog.Level, text string) {
	if l := c.Env.Host.Log; l != nil {
		l.Log(level, text)
	}
}

// LogAs hands a line to the log of the process, under the name of one of Salt's loggers.
func (c *Call) LogAs(name string, level slog.Level, text string) {
	if l := c.Env.Host.Log; l != nil {
		l.LogAs(name, level, text)
	}
}
