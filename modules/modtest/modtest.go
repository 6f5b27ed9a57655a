// Package modtest runs execution functions in tests: an environment around a registry, calls by name, and hosts
// that record what they were asked. For tests only.
package modtest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"brine/modules/loader"
	"brine/wire/payload"
)

// Env makes the environment of a minion called web1 with these functions and options.
func Env(t testing.TB, opts *payload.Map, funcs ...[]loader.Func) *loader.Env {
	t.Helper()
	reg := loader.NewRegistry()
	for _, list := range funcs {
		reg.Offer(Source(list...))
	}
	if err := reg.Check(); err != nil {
		t.Fatal(err)
	}
	if opts == nil {
		opts = payload.NewMap(0)
	}
	grains, pillar := payload.M("id", "web1"), payload.NewMap(0)
	return &loader.Env{
		Registry: reg,
		ID:       "web1",
		Opts:     func() *payload.Map { return opts },
		Grains:   func() *payload.Map { return grains },
		Pillar:   func() *payload.Map { return pillar },
	}
}

// Source makes modules of functions that have whole names ("test.ping"), in the order of their first functions.
func Source(funcs ...loader.Func) loader.Source {
	var out loader.Listed
	for _, f := range funcs {
		mod := f.Module()
		at := slices.IndexFunc(out, func(m loader.Module) bool { return m.File == mod })
		if at < 0 {
			at, out = len(out), append(out, loader.Module{File: mod, Funcs: func() []loader.Func { return nil }})
		}
		before := out[at].Funcs
		out[at].Funcs = func() []loader.Func { return append(before(), f) }
	}
	return out
}

// Call runs one function as a job from the master does and gives its value, exit code and error.
func Call(t testing.TB, env *loader.Env, fun string, args []any, kw *payload.Map) (any, int, error) {
	t.Helper()
	return CallContext(t.Context(), t, env, fun, args, kw)
}

// CallContext is Call under a context of the test's own.
func CallContext(ctx context.Context, t testing.TB, env *loader.Env, fun string, args []any, kw *payload.Map) (any, int,
	error) {
	t.Helper()
	f, ok := env.Registry.Lookup(fun)
	if !ok {
		t.Fatalf("%s is not registered", fun)
	}
	list := append([]any(nil), args...)
	if kw.Len() > 0 {
		list = append(list, kw.Clone().Set("__kwarg__", true))
	}
	load := payload.M("fun", fun, "arg", list, "tgt", "*", "jid", "20261121000000000001", "ret", "", "user", "root")
	positional, words, err := loader.LoadArgs(f, list, load)
	if err != nil {
		return nil, 0, err
	}
	bound, err := loader.Bind(f, positional, words)
	if err != nil {
		return nil, 0, err
	}
	c := loader.NewCall(ctx, env, fun, load)
	v, err := f.Run(c, bound)
	return v, c.Retcode(), err
}

// Log records log lines as "LEVEL text".
type Log struct {
	mu    sync.Mutex
	lines []string
	names []string
}

// Log adds a line.
func (l *Log) Log(level slog.Level, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, level.String()+" "+text)
}

// LogAs adds a line "LEVEL text", and remembers its name.
func (l *Log) LogAs(name string, level slog.Level, text string) {
	l.Log(level, text)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names = append(l.names, name)
}

// Names are those that lines came under, so far.
func (l *Log) Names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.names...)
}

// Lines are the lines so far.
func (l *Log) Lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

// Host records what functions ask of the daemon, and answers from its fields.
type Host struct {
	Answers []any // answers of the master in order; an error value is returned as error
	Jobs    []*payload.Map
	Reply   *payload.Map // what AwaitLocal gives; nil: nothing came
	Deaf    bool         // the buses cannot be reached

	mu     sync.Mutex
	asked  []*payload.Map
	events []*payload.Map
}

// Attach makes the host answer for env.
func (h *Host) Attach(env *loader.Env) {
	env.Host.Master, env.Host.Events, env.Host.Jobs = h, h, h
	env.Host.Runner, env.Host.Wheel, env.Host.Local = h, h, h
}

// Asked are the requests to the master so far.
func (h *Host) Asked() []*payload.Map {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]*payload.Map(nil), h.asked...)
}

// Events are the events so far: bus ("master" or "local"), tag, data, preload.
func (h *Host) Events() []*payload.Map {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]*payload.Map(nil), h.events...)
}

// Request takes the next answer.
func (h *Host) Request(_ context.Context, load *payload.Map) (any, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, load)
	if len(h.Answers) == 0 {
		return true, nil
	}
	a := h.Answers[0]
	h.Answers = h.Answers[1:]
	if err, ok := a.(error); ok {
		return nil, err
	}
	return a, nil
}

func (h *Host) note(bus, tag string, data any, preload *payload.Map) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, payload.M("bus", bus, "tag", tag, "data", data, "preload", preload))
	return !h.Deaf
}

// FireMaster notes the event.
func (h *Host) FireMaster(_ context.Context, tag string, data any, preload *payload.Map) bool {
	return h.note("master", tag, data, preload)
}

// FireLocal notes the event.
func (h *Host) FireLocal(_ context.Context, tag string, data any) bool {
	return h.note("local", tag, data, nil)
}

// AwaitLocal notes the event and answers with Reply.
func (h *Host) AwaitLocal(_ context.Context, tag string, data any, answer string) (*payload.Map, bool) {
	h.note("local", tag, data, payload.M("answer", answer))
	return h.Reply, h.Reply != nil
}

// Running lists Jobs.
func (h *Host) Running() []*payload.Map { return h.Jobs }

// Signal answers for the jids of Jobs.
func (h *Host) Signal(jid string, sig int) (string, bool) {
	for _, j := range h.Jobs {
		if j.Str("jid") == jid {
			return fmt.Sprintf("Signal %d sent to job %s at pid %d", sig, jid, 7), true
		}
	}
	return "", false
}

// Run notes a runner call as a request.
func (h *Host) Run(ctx context.Context, run loader.MasterRun, full bool) (any, error) {
	return h.Request(ctx, payload.M("runner", run.Fun, "args", run.Args, "kw", run.KW, "full", full, "saltenv",
		run.Saltenv, "pub", run.Pub))
}

// Wheel notes a wheel call as a request.
func (h *Host) Wheel(ctx context.Context, run loader.MasterRun) (any, error) {
	return h.Request(ctx, payload.M("wheel", run.Fun, "args", run.Args, "kw", run.KW, "saltenv", run.Saltenv, "pub",
		run.Pub))
}

// Cmd notes a publication as a request.
func (h *Host) Cmd(ctx context.Context, cmd loader.LocalCmd) (*payload.Map, error) {
	load := payload.M("tgt", cmd.Tgt, "fun", cmd.Fun, "args", cmd.Args, "kw", cmd.KW, "tgt_type", cmd.TgtType, "ret",
		cmd.Ret)
	if cmd.Timeout != nil {
		load.Set("timeout", *cmd.Timeout)
	}
	v, err := h.Request(ctx, load)
	m, _ := v.(*payload.Map)
	return m, err
}
