// Package test is the runner module test: functions that show how runners are called. Answers to salt/runners/test.py.
package test

import (
	"context"
	"fmt"
	"time"

	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module test.
func Module(o runners.Options) loader.Module {
	m := &master{o}
	return loader.Module{File: "test", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("arg", arg, "Show the arguments, without keywords that begin with two underscores.",
				"salt-run test.arg foo bar=baz"),
			loader.Fn("raw_arg", rawArg, "Show the arguments.", "salt-run test.raw_arg foo __bar=baz"),
			loader.Fn("metasyntactic", metasyntactic, "Show metasyntactic variables.",
				"salt-run test.metasyntactic locality=uk"),
			loader.Fn("stdout_print", m.stdoutPrint, "Print foo and return bar.", "salt-run test.stdout_print"),
			loader.Fn("sleep", m.sleep, "Print the time, sleep as many seconds, return True.",
				"salt-run test.sleep s_time=5"),
			loader.Fn("stream", m.stream, "Fire a stream of progress events.", "salt-run test.stream"),
			loader.Fn("get_opts", getOpts, "Show the options of the master.", "salt-run test.get_opts"),
		}
	}}
}

type master struct{ runners.Options }

// anything is whatever the function is called with.
type anything struct {
	Args []any        `arg:"*args"`
	KW   *payload.Map `arg:"**kwargs"`
}

func arg(_ *loader.Call, a anything) (*payload.Map, error) {
	return payload.M("args", append([]any{}, a.Args...), "kwargs", loader.CleanKWArgs(a.KW)), nil
}

func rawArg(_ *loader.Call, a anything) (*payload.Map, error) {
	return payload.M("args", append([]any{}, a.Args...), "kwargs", a.KW), nil
}

type place struct {
	Locality string `arg:"locality=us"`
}

func metasyntactic(_ *loader.Call, a place) (any, error) {
	switch a.Locality {
	case "us":
		return []any{"foo", "bar", "baz", "qux", "quux", "quuz", "corge", "grault", "garply", "waldo", "fred",
			"plugh", "xyzzy", "thud"}, nil
	case "uk":
		return []any{"wibble", "wobble", "wubble", "flob"}, nil
	}
	return nil, nil
}

func (m *master) stdoutPrint(*loader.Call, struct{}) (string, error) {
	m.Say("foo")
	return "bar", nil
}

type slept struct {
	Seconds any `arg:"s_time=10"`
}

func (m *master) sleep(c *loader.Call, a slept) (any, error) {
	v := a.Seconds
	m.Say(python.Str(v))
	switch v.(type) {
	case string, []byte, []any, *payload.Map, nil: // time.sleep reads no numbers out of texts
		return nil, loader.Raise("TypeError", "'%s' object cannot be interpreted as an integer", python.Type(v))
	}
	d := runners.Seconds(v)
	if d < 0 {
		return nil, loader.Raise("ValueError", "sleep length must be non-negative")
	}
	return true, pause(c.Ctx, d)
}

func (m *master) stream(c *loader.Call, _ struct{}) (any, error) {
	const events, between = 100, 100 * time.Millisecond
	for i := 1; i < events; i++ {
		m.Progress(c, true, fmt.Sprintf("Runner is %d%% done", i))
		if err := pause(c.Ctx, between); err != nil {
			return nil, err
		}
	}
	return true, nil
}

func getOpts(c *loader.Call, _ struct{}) (*payload.Map, error) { return c.Opts(), nil }

// pause waits, or returns why the context ended before.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
