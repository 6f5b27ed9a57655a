// Package modtest runs execution functions in tests: an environment around a registry, calls by name, and hosts
// that record what they were asked. For tests only.
package modtest

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"brine/modules"
	"brine/wire/payload"
)

// Env makes the environment of a minion called web1 with these functions and options.
func Env(t testing.TB, opts *payload.Map, funcs ...[]modules.Func) *modules.Env {
	t.Helper()
	reg := modules.NewRegistry()
	for _, list := range funcs {
		if err := reg.Register(list...); err != nil {
			t.Fatal(err)
		}
	}
	if opts == nil {
		opts = payload.NewMap(0)
	}
	grains, pillar := payload.M("id", "web1"), payload.NewMap(0)
	return &modules.Env{
		Registry: reg,
		ID:       "web1",
		Opts:     func() *payload.Map { return opts },
		Grains:   func() *payload.Map { return grains },
		Pillar:   func() *payload.Map { return pillar },
	}
}

// Call runs one function as a job from the master does and gives its value, exit code and error.
func Call(t testing.TB, env *modules.Env, fun string, args []any, kw *payload.Map) (any, int, error) {
	t.Helper()
	return CallContext(t.Context(), t, env, fun, args, kw)
}

// CallContext is Call under a context of the test's own.
func CallContext(ctx context.Context, t testing.TB, env *modules.Env, fun string, args []any, kw *payload.Map) (any, int, error) {
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
	positional, words, err := modules.LoadArgs(f, list, load)
	if err != nil {
		return nil, 0, err
	}
	bound, err := modules.Bind(f, positional, words)
	if err != nil {
		return nil, 0, err
	}
	c := modules.NewCall(ctx, env, fun, load)
	v, err := f.Run(c, bound)
	return v, c.Retcode(), err
}

// Log records log lines as "LEVEL text".
type Log struct {
	mu    sync.Mutex
	lines []string
}

// Log adds a line.
func (l *Log) Log(level slog.Level, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, level.String()+" "+text)
}

// Lines are the lines so far.
func (l *Log) Lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}
