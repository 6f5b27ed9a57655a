// Package testmod holds the execution functions of module test: answers that show whether a minion lives, how
// arguments reach a function, and how each kind of failure is told. It answers to salt/modules/test.py.
package testmod

import (
	"context"
	"math/rand/v2"
	"time"

	"brine/modules/loader"
	"brine/wire/payload"
)

const source = "salt/modules/test.py"

// Options are what the module tells about the program it runs in.
type Options struct {
	Version  string              // Salt release it answers as: "3008.3"
	Versions func() *payload.Map // sections of the versions report, after "Salt Version"; may be nil
}

// Functions lists the module's functions.
func Functions(opt Options) []loader.Func {
	funcs := append(plain(), arguments()...)
	funcs = append(funcs, failures()...)
	funcs = append(funcs, numbers()...)
	funcs = append(funcs, reports(opt)...)
	for i := range funcs {
		funcs[i].Source = source
	}
	return funcs
}

func plain() []loader.Func {
	return []loader.Func{
		{Name: "test.ping", Run: constant(true), Doc: `Answer True: the minion lives and runs jobs. This is no ICMP ping.

CLI Example:

    salt '*' test.ping`},
		{Name: "test.true", PyName: "true_", Run: constant(true), Doc: `Answer True, always.

CLI Example:

    salt '*' test.true`},
		{Name: "test.false", PyName: "false_", Run: constant(false), Doc: `Answer False, always.

CLI Example:

    salt '*' test.false`},
		{Name: "test.echo", Params: []loader.Param{loader.Req("text")}, Run: give("text"), Doc: `Give back the argument unchanged.

CLI Example:

    salt '*' test.echo 'some text'`},
		{Name: "test.outputter", Params: []loader.Param{loader.Req("data")}, Run: give("data"),
			Doc: `Give back the argument, to try outputters with.

CLI Example:

    salt '*' test.outputter text`},
		{Name: "test.sleep", Params: []loader.Param{loader.Req("length")}, Run: sleepFor, Doc: `Wait a number of seconds, then answer True.

CLI Example:

    salt '*' test.sleep 20`},
		{Name: "test.rand_sleep", Params: []loader.Param{loader.Opt("max", int64(60))}, Run: randSleep,
			Doc: `Wait a random number of seconds up to max, then answer True.

CLI Example:

    salt '*' test.rand_sleep 60`},
		{Name: "test.tty", VarArgs: true, KWArgs: true, Run: constant("ERROR: This function has been moved to cmd.tty"),
			Doc: `Moved: see cmd.tty.

CLI Example:

    salt '*' test.tty tty0 'text'`},
	}
}

func constant(v any) func(*loader.Call, loader.Args) (any, error) {
	return func(*loader.Call, loader.Args) (any, error) { return v, nil }
}

func give(param string) func(*loader.Call, loader.Args) (any, error) {
	return func(_ *loader.Call, a loader.Args) (any, error) { return a.Get(param), nil }
}

func sleepFor(c *loader.Call, a loader.Args) (any, error) {
	n, err := a.Int("length")
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, loader.Raise("ValueError", "sleep length must be non-negative")
	}
	return true, wait(c.Ctx, n)
}

func randSleep(c *loader.Call, a loader.Args) (any, error) {
	top, err := a.Int("max")
	if err != nil {
		return nil, err
	}
	if top < 0 {
		return nil, loader.Raise("ValueError", "empty range for randrange() (0, %d, %d)", top+1, top+1)
	}
	return true, wait(c.Ctx, rand.Int64N(top+1))
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
