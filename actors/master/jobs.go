package master

import (
	"context"
	"errors"
	"time"

	"brine/modules/runners"
	"brine/wire/payload"
)

// Jobs reads the job store, for tools that cannot open it themselves.
func (m *Master) Jobs() runners.JobStore { return m.stores.jobs }

// JobEnd is when the last return of a job came, in Salt's form; "" when that is not known.
func (m *Master) JobEnd(jid string) string {
	if times, ok := m.stores.jobs.(runners.EndTimes); ok {
		return times.EndTime(jid)
	}
	return ""
}

// AwaitJobs waits until every return that the bus has told of is stored. Without it a tool that asks for a job it has
// just seen the end of may come before the disk has.
func (m *Master) AwaitJobs(ctx context.Context) error {
	stored := make(chan struct{})
	m.core.jobs.Send(&AwaitJobs{Done: func() { close(stored) }})
	select {
	case <-stored:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// KeepJob stores a job of one participant with its return, such as a runner that a tool has run.
func (m *Master) KeepJob(ctx context.Context, jid, id string, load *payload.Map) error {
	if jid == "" || id == "" || load == nil {
		return errors.New("a job needs jid, id and load")
	}
	stored := make(chan error, 1)
	m.core.jobs.Send(&SaveLoad{JID: jid, Minions: []string{id}, Load: runnerLoad(load, id)})
	m.core.jobs.Send(&StoreReturn{JID: jid, ID: id, Load: load, Keep: true, Stored: func(err error) { stored <- err }})
	select {
	case err := <-stored:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// runnerLoad is the publish load that stands for a run on the master.
func runnerLoad(load *payload.Map, id string) *payload.Map {
	words := load.List("fun_args")
	if words == nil {
		words = []any{} // Salt's runners cannot list a job whose arg is nil
	}
	out := payload.M("fun", load.Value("fun"), "arg", words, "tgt", id, "tgt_type", "glob", "ret", "", "jid", load.Value("jid"))
	if user, ok := load.Get("user"); ok {
		out.Set("user", user)
	}
	return out
}

// settledJobs is the job store as the master's own runners read it: with what the bus has told of.
type settledJobs struct{ c *core }

func (s settledJobs) settle() {
	stored := make(chan struct{})
	s.c.jobs.Send(&AwaitJobs{Done: func() { close(stored) }})
	select {
	case <-stored:
	case <-time.After(settlePatience): // a store that cannot write is read all the same
	}
}

// settlePatience bounds how long a reader waits for the commit under way.
const settlePatience = 5 * time.Second

// Load returns the publish load of a job.
func (s settledJobs) Load(jid string) (*payload.Map, error) {
	s.settle()
	return s.c.store.Load(jid)
}

// Returns maps each id that answered to what it returned.
func (s settledJobs) Returns(jid string) (*payload.Map, error) {
	s.settle()
	return s.c.store.Returns(jid)
}

// Loads maps every known jid to its publish load.
func (s settledJobs) Loads() (*payload.Map, error) {
	s.settle()
	return s.c.store.Loads()
}

// EndTime is when the last return of a job came, "" when that is not known.
func (s settledJobs) EndTime(jid string) string {
	if times, ok := s.c.store.(runners.EndTimes); ok {
		return times.EndTime(jid)
	}
	return ""
}
