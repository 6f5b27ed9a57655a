package loader

import (
	"context"
	"fmt"
	"log/slog"

	"brine/wire/payload"
	"brine/wire/python"
)

// executeMulti runs several functions one after the other. A failure is the traceback text of its function and
// stops nothing; it has no exit code (map form) or nil (list form).
func executeMulti(ctx context.Context, env *Env, job Job, names []any) Result {
	args := argList(job.Load.Value("arg"))
	ordered := python.Truth(provided(env.Opts).Value("multifunc_ordered"))
	out := newOutcomes(len(names), ordered)
	for i, n := range names {
		fun := Text(n)
		var list []any
		if i < len(args) { // Unlike Salt: fewer argument lists than functions do not end the job without a return
			list = argList(args[i])
		}
		c := NewCall(ctx, env, fun, job.Load)
		value, err := guard(func() (any, error) { return perform(c, job, fun, list) })
		if err != nil {
			c.Log(slog.LevelWarn, fmt.Sprintf("The minion function caused an exception: %s", err))
			out.failed(i, fun, Traceback(fun, err))
			continue
		}
		out.done(i, fun, value, Judge(c, value))
	}
	return out.result(job.Load)
}

// outcomes collects what the functions returned: maps by name, where the last of two equal names stays, or
// lists by position.
type outcomes struct {
	ordered                   bool
	byName, codes, successes  *payload.Map
	byIndex, codeAt, succeedB []any
}

func newOutcomes(n int, ordered bool) *outcomes {
	o := &outcomes{ordered: ordered, byName: payload.NewMap(n), codes: payload.NewMap(n), successes: payload.NewMap(n)}
	o.byIndex, o.codeAt, o.succeedB = make([]any, n), make([]any, n), make([]any, n)
	for i := range o.succeedB {
		o.succeedB[i] = false
	}
	return o
}

func (o *outcomes) done(i int, fun string, value any, code int) {
	o.byIndex[i], o.codeAt[i], o.succeedB[i] = value, int64(code), code == 0
	o.byName.Set(fun, value)
	o.codes.Set(fun, int64(code))
	o.successes.Set(fun, code == 0)
}

func (o *outcomes) failed(i int, fun, traceback string) {
	o.byIndex[i] = traceback
	o.byName.Set(fun, traceback)
	o.successes.Set(fun, false)
}

func (o *outcomes) result(load *payload.Map) Result {
	if o.ordered {
		return Result{Job: load, Return: o.byIndex, Retcode: o.codeAt, Success: o.succeedB, multi: true}
	}
	return Result{Job: load, Return: o.byName, Retcode: o.codes, Success: o.successes, multi: true}
}
