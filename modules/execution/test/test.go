// Package test is the execution module test: answers that show whether a minion lives, how arguments reach a function,
// and how each kind of failure is told. It answers to salt/modules/test.py.
package test

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"brine/modules/loader"
)

// Module is the module test.
func Module() loader.Module {
	return loader.Module{File: "test", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(plain(), arguments(), failures(), numbers(), reports())
	}}
}

func plain() []loader.Func {
	return []loader.Func{
		loader.Fn("ping", constant[struct{}](true),
			"Answer True: the minion lives and runs jobs. This is no ICMP ping.", "test.ping"),
		loader.Fn("true", constant[struct{}](true), "Answer True, always.", "test.true").Named("true_"),
		loader.Fn("false", constant[struct{}](false), "Answer False, always.", "test.false").Named("false_"),
		loader.Fn("echo", echo, "Give back the argument unchanged.", "test.echo 'some text'"),
		loader.Fn("outputter", outputter, "Give back the argument, to try outputters with.", "test.outputter text"),
		loader.Fn("sleep", sleepFor, "Wait a number of seconds, then answer True.", "test.sleep 20"),
		loader.Fn("rand_sleep", randSleep, "Wait a random number of seconds up to max, then answer True.",
			"test.rand_sleep 60"),
		loader.Fn("tty", constant[anything]("ERROR: This function has been moved to cmd.tty"), "Moved: see cmd.tty.",
			"test.tty tty0 'text'"),
	}
}

// constant is a function that answers the same to all arguments.
func constant[A any](v any) func(*loader.Call, A) (any, error) {
	return func(*loader.Call, A) (any, error) { return v, nil }
}

type echoed struct {
	Text any `arg:"text"`
}

func echo(_ *loader.Call, a echoed) (any, error) { return a.Text, nil }

type shown struct {
	Data any `arg:"data"`
}

func outputter(_ *loader.Call, a shown) (any, error) { return a.Data, nil }

type pause struct {
	Seconds int64 `arg:"length"`
}

func sleepFor(c *loader.Call, a pause) (any, error) {
	if a.Seconds < 0 {
		return nil, loader.Raise("ValueError", "sleep length must be non-negative")
	}
	return true, wait(c.Ctx, a.Seconds)
}

type atMost struct {
	Seconds int64 `arg:"max=60"`
}

func randSleep(c *loader.Call, a atMost) (any, error) {
	end := a.Seconds + 1
	if end < 1 {
		return nil, loader.Raise("ValueError", "empty range for randrange() (0, %d, %d)", end, end)
	}
	return true, wait(c.Ctx, rand.Int64N(end))
}

// wait sleeps whole seconds, or fails with the cause of the end of ctx.
func wait(ctx context.Context, seconds int64) error {
	timer := time.NewTimer(time.Duration(seconds) * time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
