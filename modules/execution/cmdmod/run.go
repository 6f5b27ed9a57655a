package cmdmod

import (
	"log/slog"

	"brine/modules/loader"
	"brine/wire/payload"
)

func run(c *loader.Call, a loader.Args) (any, error) {
	return runMerged(c, options{args: a})
}

// runMerged is cmd.run: output with standard error in it.
func runMerged(c *loader.Call, o options) (any, error) {
	r, err := perform(c, o, o.flag("redirect_stderr"))
	if err != nil {
		return nil, err
	}
	if err := logRun(c, o, r); err != nil {
		return nil, err
	}
	if o.flag("hide_output") {
		return "", nil
	}
	return r.Str("stdout"), nil
}

// logRun writes the lines cmd.run adds to those of the common part, and turns a failure into an error when asked.
func logRun(c *loader.Call, o options, r ran) error {
	level, known := levelOf(o.get("output_loglevel"))
	if !known {
		logUnknownLevel(c, o.get("output_loglevel"))
	}
	if level == levelQuiet {
		return nil
	}
	code, _ := r.Get("retcode")
	if !o.flag("ignore_retcode") && failed(code) {
		level = max(level, slog.LevelError)
		logFailure(c, o.get("cmd"), code)
		if o.flag("raise_err") {
			if o.flag("hide_output") {
				return loader.ExecErr("")
			}
			return loader.ExecErr("%s", r.Str("stdout"))
		}
	}
	c.Log(level, "output: "+r.Str("stdout"))
	return nil
}

func runShell(c *loader.Call, a loader.Args) (any, error) {
	o := options{args: a}
	shell := true
	if v, ok := a.KW.Get("python_shell"); ok && v != nil {
		shell = loader.Truthy(v)
	}
	return runMerged(c, o.with(map[string]any{"python_shell": shell, "redirect_stderr": true}))
}

func runStdout(c *loader.Call, a loader.Args) (any, error) { return oneStream(c, a, "stdout") }

func runStderr(c *loader.Call, a loader.Args) (any, error) { return oneStream(c, a, "stderr") }

func oneStream(c *loader.Call, a loader.Args, name string) (any, error) {
	o := options{args: a}
	r, err := perform(c, o, false)
	if err != nil {
		return nil, err
	}
	if o.flag("hide_output") {
		return "", nil
	}
	return r.Str(name), nil
}

func runAll(c *loader.Call, a loader.Args) (any, error) {
	o := options{args: a}
	r, err := perform(c, o, o.flag("redirect_stderr"))
	if err != nil {
		return nil, err
	}
	return hidden(o, r.Map), nil
}

// hidden empties the output in a result when the caller does not want to see it.
func hidden(o options, m *payload.Map) *payload.Map {
	if o.flag("hide_output") {
		m.Set("stdout", "").Set("stderr", "")
	}
	return m
}

func retcode(c *loader.Call, a loader.Args) (any, error) {
	r, err := perform(c, options{args: a}, true)
	if err != nil {
		return nil, err
	}
	return r.Value("retcode"), nil
}

func runBG(c *loader.Call, a loader.Args) (any, error) {
	o := options{args: a}
	r, err := perform(c, o.with(map[string]any{"bg": true}), false)
	if err != nil {
		return nil, err
	}
	return payload.M("pid", r.Value("pid")), nil
}
