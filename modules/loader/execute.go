package loader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"brine/wire/payload"
	"brine/wire/python"
)

// Job is one publication as a minion executes it.
type Job struct {
	// Load is the publish load: fun, arg, jid and, as far as they are set, tgt, tgt_type, ret, user, master_id,
	// metadata, module_executors, executor_opts. Its fields become the __pub_* keywords, in this order.
	Load *payload.Map
	// Connected tells that a master is there: only then a blackout in the pillar counts.
	Connected bool
}

// Result is what a job came to.
type Result struct {
	Job       *payload.Map // the load it answers
	Return    any
	Retcode   any    // int64; with several functions a map or list
	Success   any    // bool; with several functions a map or list
	Out       string // the outputter, or ""
	Crashed   bool   // the function raised an exception Salt would also report as a _salt_error event
	NoReturn  bool   // nothing is sent: the job was queued and runs again (__no_return__)
	multi     bool
	outFailed bool
}

// WithResourceFields copies a publish load and adds the three fields a 3008 minion puts into every job, which
// show in proc files, saltutil.running and the __pub_* keywords.
func WithResourceFields(load *payload.Map) *payload.Map {
	out := load.Clone()
	for _, f := range []struct {
		key   string
		value any
	}{{"resource_targets", []any{}}, {"pure_resource_target", false}, {"minion_is_target", true}} {
		if !out.Has(f.key) {
			out.Set(f.key, f.value)
		}
	}
	return out
}

// Execute runs a job, one function or several, and maps its outcome as Salt does. It never panics and never
// fails: whatever goes wrong is the result. Source: salt/minion.py, _thread_return, _thread_multi_return.
func Execute(ctx context.Context, env *Env, job Job) Result {
	if names, ok := job.Load.Value("fun").([]any); ok {
		return executeMulti(ctx, env, job, names)
	}
	fun := Text(job.Load.Value("fun"))
	res := Result{Job: job.Load}
	f, ok := env.Registry.Lookup(fun)
	if !ok {
		res.fail(missing(env.Registry, fun))
		return res
	}
	c := NewCall(ctx, env, fun, job.Load)
	value, err := guard(func() (any, error) { return perform(c, job, fun, argList(job.Load.Value("arg"))) })
	if err != nil {
		res.fail(failureText(c, f, err))
		res.Crashed = isCrash(err)
		return res
	}
	code := Judge(c, value)
	res.Return, res.Retcode, res.Success = value, int64(code), code == 0
	if m, ok := value.(*payload.Map); ok && python.Truth(m.Value("__no_return__")) {
		res.NoReturn = true
	}
	res.Out = f.Outputter
	return res
}

// Judge is the exit code of a call that returned value: the code the function set, else 1 for a map that says
// result or success false, else 0.
func Judge(c *Call, value any) int {
	if code := c.Retcode(); code != 0 {
		return code
	}
	m, ok := value.(*payload.Map)
	if !ok {
		return 0
	}
	for _, key := range []string{"result", "success"} {
		if v, ok := m.Get(key); ok && !python.Truth(v) {
			return 1
		}
	}
	return 0
}

func (r *Result) fail(value any) {
	r.Return, r.Retcode, r.Success, r.Out, r.outFailed = value, int64(1), false, "nested", true
}

// missing is the return of an unknown function: its sentence alone, or under its name beside the docs of the
// functions whose names begin with it.
func missing(reg *Registry, fun string) any {
	text := reg.MissingText(fun)
	docs := reg.Docs(fun + "*")
	if docs.Len() == 0 {
		return text
	}
	return docs.Set(fun, text)
}

// perform checks the blackout, loads the arguments and lets the executors call the function.
func perform(c *Call, job Job, fun string, list []any) (any, error) {
	if blackedOut(c, job.Connected, fun) {
		return nil, InvocErr("%s", blackoutText)
	}
	run := invocation{call: c, fun: fun, load: job.Load}
	f, known := c.Env.Registry.Lookup(fun)
	if known {
		var err error
		if run.args, run.kw, err = LoadArgs(f, list, job.Load); err != nil {
			return nil, err
		}
		run.target = f
	} else {
		run.args, run.kw = list, job.Load
	}
	c.SetRetcode(0)
	names, err := executorNames(c, job.Load)
	if err != nil {
		return nil, err
	}
	return run.through(names)
}

func argList(v any) []any {
	switch x := v.(type) {
	case nil:
		return nil
	case []any:
		return x
	}
	return []any{v}
}

// failureText is the return of a function that failed, and logs what Salt logs.
func failureText(c *Call, f *Func, err error) string {
	var (
		exec  *CommandExecutionError
		cmd   *CommandNotFoundError
		invoc *InvocationError
		cli   *ClientError
		arg   *ArgumentError
	)
	switch {
	case errors.As(err, &cmd):
		return fmt.Sprintf("Command required for '%s' not found: %s", f.Name, err)
	case errors.As(err, &exec):
		c.Log(slog.LevelError, fmt.Sprintf("A command in '%s' had a problem: %s", f.Name, err))
		return fmt.Sprintf("ERROR: %s", err)
	case errors.As(err, &invoc), errors.As(err, &cli):
		c.Log(slog.LevelError, fmt.Sprintf("Problem executing '%s': %s", f.Name, err))
		return fmt.Sprintf("ERROR executing '%s': %s", f.Name, err)
	case errors.As(err, &arg):
		text := fmt.Sprintf("Passed invalid arguments to %s: %s\n%s", f.Name, err, f.Doc)
		c.Log(slog.LevelWarn, text)
		return text
	}
	text := "The minion function caused an exception: " + Traceback(f.Name, err)
	c.Log(slog.LevelWarn, text)
	return text
}

// isCrash tells the exceptions Salt did not expect from those a function raises on purpose.
func isCrash(err error) bool {
	if invoc := (*InvocationError)(nil); errors.As(err, &invoc) {
		return false
	}
	switch ClassOf(err) {
	case "salt.exceptions.CommandExecutionError", "salt.exceptions.CommandNotFoundError",
		"salt.exceptions.SaltClientError", "TypeError":
		return false
	}
	return true
}

// Map is the return as it goes to the master and to returners, without cmd and id, in Salt's order of keys.
func (r *Result) Map() *payload.Map {
	out := payload.NewMap(12)
	if !r.multi {
		out.Set("success", r.Success)
	}
	out.Set("return", r.Return)
	if r.outFailed && r.Job.Has("fun") && !r.multi {
		out.Set("out", r.Out)
	}
	out.Set("retcode", r.Retcode)
	if r.multi {
		out.Set("success", r.Success)
	}
	out.Set("jid", r.Job.Value("jid")).Set("fun", r.Job.Value("fun")).Set("fun_args", r.Job.Value("arg"))
	if v, ok := r.Job.Get("user"); ok {
		out.Set("user", v)
	}
	if v, ok := r.Job.Get("master_id"); ok && !r.multi {
		out.Set("master_id", v)
	}
	if v, ok := r.Job.Get("metadata"); ok {
		if _, isMap := v.(*payload.Map); isMap || r.multi {
			out.Set("metadata", v)
		}
	}
	if r.Out != "" {
		out.Set("out", r.Out)
	}
	return out
}

// Nested calls a function whose arguments are bound, as a part of the job of c. A panic of it is an error.
func Nested(c *Call, f *Func, a Args) (any, error) {
	nested := *c
	nested.Fun, nested.depth = f.Name, c.depth+1
	return guard(func() (any, error) { return f.Run(&nested, a) })
}
