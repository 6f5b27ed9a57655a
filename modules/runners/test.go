package runners

import (
	"context"
	"fmt"
	"time"

	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

const sourceTest = "salt/runners/test.py"

func (r *runner) testFuncs() []loader.Func {
	return []loader.Func{
		{Name: "test.arg", Source: sourceTest, VarArgs: true, KWArgs: true, Run: testArg,
			Doc: "Show the arguments, without keywords that begin with two underscores.\n\nCLI Example:\n\n    salt-run test.arg foo bar=baz"},
		{Name: "test.raw_arg", Source: sourceTest, VarArgs: true, KWArgs: true, Run: testRawArg,
			Doc: "Show the arguments.\n\nCLI Example:\n\n    salt-run test.raw_arg foo __bar=baz"},
		{Name: "test.metasyntactic", Source: sourceTest, Run: testMetasyntactic,
			Params: []loader.Param{loader.Opt("locality", "us")},
			Doc:    "Show metasyntactic variables.\n\nCLI Example:\n\n    salt-run test.metasyntactic locality=uk"},
		{Name: "test.stdout_print", Source: sourceTest, Run: r.testStdoutPrint,
			Doc: "Print foo and return bar.\n\nCLI Example:\n\n    salt-run test.stdout_print"},
		{Name: "test.sleep", Source: sourceTest, Run: r.testSleep,
			Params: []loader.Param{loader.Opt("s_time", int64(10))},
			Doc:    "Print the time, sleep as many seconds, return True.\n\nCLI Example:\n\n    salt-run test.sleep s_time=5"},
		{Name: "test.stream", Source: sourceTest, Run: r.testStream,
			Doc: "Fire a stream of progress events.\n\nCLI Example:\n\n    salt-run test.stream"},
		{Name: "test.get_opts", Source: sourceTest, Run: testGetOpts,
			Doc: "Show the options of the master.\n\nCLI Example:\n\n    salt-run test.get_opts"},
	}
}

func testArg(_ *loader.Call, a loader.Args) (any, error) {
	return payload.M("args", append([]any{}, a.Rest...), "kwargs", a.UserKW()), nil
}

func testRawArg(_ *loader.Call, a loader.Args) (any, error) {
	return payload.M("args", append([]any{}, a.Rest...), "kwargs", a.KW), nil
}

func testMetasyntactic(_ *loader.Call, a loader.Args) (any, error) {
	switch a.Str("locality") {
	case "us":
		return []any{"foo", "bar", "baz", "qux", "quux", "quuz", "corge", "grault", "garply", "waldo", "fred",
			"plugh", "xyzzy", "thud"}, nil
	case "uk":
		return []any{"wibble", "wobble", "wubble", "flob"}, nil
	}
	return nil, nil
}

func (r *runner) testStdoutPrint(*loader.Call, loader.Args) (any, error) {
	r.print("foo")
	return "bar", nil
}

func (r *runner) testSleep(c *loader.Call, a loader.Args) (any, error) {
	v := a.Get("s_time")
	r.print(pytext.Str(v))
	switch v.(type) {
	case string, []byte, []any, *payload.Map, nil: // time.sleep reads no numbers out of texts
		return nil, loader.Raise("TypeError", "'%s' object cannot be interpreted as an integer", pytext.Type(v))
	}
	d := seconds(v)
	if d < 0 {
		return nil, loader.Raise("ValueError", "sleep length must be non-negative")
	}
	return true, pause(c.Ctx, d)
}

func (r *runner) testStream(c *loader.Call, _ loader.Args) (any, error) {
	const events, between = 100, 100 * time.Millisecond
	for i := 1; i < events; i++ {
		r.progress(c, true, fmt.Sprintf("Runner is %d%% done", i))
		if err := pause(c.Ctx, between); err != nil {
			return nil, err
		}
	}
	return true, nil
}

func testGetOpts(c *loader.Call, _ loader.Args) (any, error) { return c.Opts(), nil }

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
