package netapi

import (
	"context"
	"errors"
	"time"

	"brine/modules/netapi"
	"brine/wire/client"
	"brine/wire/payload"
	"brine/wire/python"
)

// Unlisted runs one chunk of a server that does not ask netapi_enable_clients (rest_tornado): a job, whose answer is of
// those minions that have returned within a time, a job without waiting, or a runner. nil is the answer of a job that
// means nobody.
func (s *Server) Unlisted(ctx context.Context, low *payload.Map, within time.Duration) (any, error) {
	if err := s.MasterHere(); err != nil {
		return nil, err
	}
	name := low.Str("client")
	run := s.clients()[name]
	switch name {
	case netapi.Local:
		run = func(ctx context.Context, low *payload.Map, note func(string)) (any, error) {
			return s.returned(ctx, low, within, note)
		}
	case netapi.LocalAsync, netapi.Runner, netapi.RunnerAsync:
	default:
		return nil, netapi.BadRequest("Invalid client specified: '" + name + "'")
	}
	v, err := s.calls.run(ctx, func(ctx context.Context, note func(string)) (any, error) {
		note(name + " " + python.Str(low.Value("fun")))
		return run(ctx, low, note)
	})
	return v, s.told(err)
}

// errLate ends the wait for returns.
var errLate = errors.New("netapi: no more time for returns")

// returned publishes a job and collects what has come when all have answered, or the time is over.
func (s *Server) returned(ctx context.Context, low *payload.Map, within time.Duration, note func(string)) (any, error) {
	job, err := s.job(low)
	if err != nil {
		return nil, err
	}
	run, err := s.opt.Client.Run(ctx, job)
	if err != nil {
		return nil, err
	}
	if s.nobody(run.Published) {
		run.Close()
		return nil, nil
	}
	note("job " + run.JID + " " + python.Str(job.Fun))
	ctx, cancel := context.WithTimeoutCause(ctx, within, errLate)
	defer cancel()
	out := payload.NewMap(len(run.Minions))
	for ret, err := range run.Returns(ctx) {
		if errors.Is(err, errLate) || err != nil && errors.Is(context.Cause(ctx), errLate) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if ret.Silence == client.Answered {
			out.Set(ret.ID, ret.Value)
		}
	}
	return out, nil
}
