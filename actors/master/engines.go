package master

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/actors/engines"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
)

// engineUser is as whom the functions run that an engine calls.
const engineUser = "Engine"

// engineRoom is this master as its engines see it, and what there is of them. Any number of goroutines may use it.
type engineRoom struct {
	events    *events
	functions *ownFunctions
	jobs      *jobs
	set       *engines.Set
}

// engineOptions are what the configuration says of engines.
type engineOptions struct {
	engines, ext any
	id           string
	eventMost    int // max_event_size in bytes
}

func newEngineRoom(opt engineOptions, c *core) (*engineRoom, error) {
	r := &engineRoom{events: c.events, functions: c.functions, jobs: c.jobs}
	var err error
	r.set, err = engines.New(engines.Options{Engines: opt.engines, Ext: opt.ext, Role: "master", ID: opt.id,
		MaxEvent: opt.eventMost, Daemon: r, Log: c.log})
	return r, err
}

// rows are the engines as children of the master.
func (r *engineRoom) rows() []child {
	rows := make([]child, 0, len(r.set.Children))
	for _, spec := range r.set.Children {
		rows = append(rows, child{nil, spec})
	}
	return rows
}

// Listen shows the bus to an engine.
func (r *engineRoom) Listen(ctx context.Context, sink func(tag string, body []byte)) (stop func(), err error) {
	name, stands := r.events.streamName("engine"), make(chan struct{})
	stop = func() { r.events.ref.Send(&Unsubscribe{Name: name}) }
	r.events.ref.Send(&Subscribe{Name: name, Sink: sink, Done: stands})
	select {
	case <-stands:
		return stop, nil
	case <-ctx.Done():
		stop()
		return nil, context.Cause(ctx)
	}
}

// Fire puts an event on the bus, as soon as there is room.
func (r *engineRoom) Fire(ctx context.Context, tag string, data *payload.Map) error {
	body := r.events.pack(tag, data)
	if body == nil {
		return errors.New("it cannot be packed")
	}
	if !r.events.room.wait(ctx, toolPatience) {
		return errors.Join(errors.New("too much waits for the bus"), context.Cause(ctx))
	}
	r.events.putNow(body)
	return nil
}

// Call runs a function of this master, or one on its machine. It waits for the end of it.
func (r *engineRoom) Call(ctx context.Context, client, fun string, args []any, kw *payload.Map) (any, error) {
	kind := runners.Kind(client)
	switch kind {
	case runners.KindRunner, runners.KindWheel:
		rec, err := r.functions.await(ctx, runners.Request{Kind: kind, Fun: fun, Args: args, KW: kw,
			JID: r.jobs.ids.Next(time.Now()), User: engineUser}, 0)
		return rec.Value("return"), err
	case "execution":
		env := r.functions.onMaster
		return loader.NewCall(ctx, env, fun, payload.M("fun", fun)).Call(fun, args, kw)
	}
	return nil, fmt.Errorf("there is no client %s: there are execution, runner and wheel", payload.Show(client))
}
