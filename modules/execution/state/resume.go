package state

import (
	"context"
	"errors"
	"io/fs"

	"brine/modules/loader"
	"brine/modules/states/run/journal"
	"brine/wire/payload"
)

type resumed struct {
	JID string       `arg:"jid"`
	KW  *payload.Map `arg:"**kwargs"`
}

type resumeKey struct{}

// before is the run that a run goes on with; nil: it is a new one.
func before(c *loader.Call) *journal.Past {
	past, _ := c.Ctx.Value(resumeKey{}).(*journal.Past)
	return past
}

// resumeRun goes on with a run that was interrupted: the function is called again with the same arguments, and states
// that have a return keep it. One that was in flight is called again. Salt has nothing of the kind.
func resumeRun(c *loader.Call, a resumed) (any, error) {
	dir := c.Opts().Str("cachedir")
	past, err := journal.Read(dir, a.JID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, loader.ExecErr("there is no interrupted run of states with the jid %s", a.JID)
	}
	if err != nil {
		return nil, err
	}
	if runs(c, a.JID) {
		return nil, loader.ExecErr("the run of states %s still runs", a.JID)
	}
	fun := past.Job.Str("fun")
	f, ok := c.Registry().Lookup(fun)
	if !ok {
		return nil, &loader.NotAvailable{Name: fun, Message: c.Registry().MissingText(fun)}
	}
	args, kw, err := loader.LoadArgs(f, past.Job.List("arg"), payload.NewMap(0))
	if err != nil {
		return nil, err
	}
	bound, err := loader.Bind(f, args, kw)
	if err != nil {
		return nil, err
	}
	inner := *c
	inner.Ctx = context.WithValue(c.Ctx, resumeKey{}, past)
	v, err := f.Run(&inner, bound)
	if _, isMap := v.(*payload.Map); err == nil && isMap {
		err = journal.Remove(dir, a.JID)
	}
	return v, err
}
