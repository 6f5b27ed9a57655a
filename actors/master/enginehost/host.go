// Package enginehost shows the master to its engines (actors/engines): the bus, runner and wheel functions, execution
// functions of the machine. A Host owns the set of engines. It asks the event bus, package run and package jobs.
package enginehost

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"brine/actors/daemon"
	"brine/actors/engines"
	"brine/actors/master/eventbus"
	"brine/actors/master/jobs"
	"brine/actors/master/machine"
	"brine/actors/master/run"
	"brine/modules/runners"
	"brine/wire/payload"
)

// engineUser is as whom the functions run that an engine calls.
const engineUser = "Engine"

// Options are what the configuration says of engines.
type Options struct {
	Engines, Ext any
	ID           string
	EventMost    int // max_event_size in bytes
}

// engineCaller runs functions for engines.
type engineCaller struct {
	functions *run.Functions
	machine   *machine.Machine
	jobs      *jobs.Jobs
}

// New makes the engines of a master. They see its bus, its functions and the numbers of its jobs.
func New(opt Options, events *eventbus.Bus, functions *run.Functions,
	on *machine.Machine, jobs *jobs.Jobs,
	log *slog.Logger) (*engines.Set, error) {
	c := &engineCaller{functions, on, jobs}
	return engines.New(engines.Options{Engines: opt.Engines, Ext: opt.Ext, Role: "master", ID: opt.ID,
		MaxEvent: opt.EventMost, Daemon: daemon.NewEngineRoom(events.Way, events.Offer, c.call), Log: log})
}

// call runs a function of this master, or one on its machine. It waits for the end of it.
func (c *engineCaller) call(ctx context.Context, client, fun string, args []any, kw *payload.Map) (any, error) {
	kind := runners.Kind(client)
	switch kind {
	case runners.KindRunner, runners.KindWheel:
		rec, err := c.functions.Await(ctx, runners.Request{Kind: kind, Fun: fun, Args: args, KW: kw,
			JID: c.jobs.IDs.Next(time.Now()), User: engineUser}, 0)
		return rec.Value("return"), err
	case "execution":
		return daemon.CallIn(ctx, c.machine.Env, fun, args, kw)
	}
	return nil, fmt.Errorf("there is no client %s: there are execution, runner and wheel", payload.Show(client))
}
