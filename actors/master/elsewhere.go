package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"brine/actors/master/returning"
	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/queue"
	"brine/wire/bus"
	"brine/wire/payload"
	"brine/wire/python/fnmatch"
)

// elsewhere is what this master hands to returners: its events, and jobs. Each may be missing.
type elsewhere struct {
	events *returning.Part // event_return; nil: none
	jobs   *returning.Part // master_job_cache, ext_job_cache; nil: none
	runs   *returning.Part // returners of the schedule; nil: none
}

// eventReturnOptions are what the configuration says of event_return.
type eventReturnOptions struct {
	names       []string
	least       int
	maxWait     time.Duration
	allow, deny []string
	dir         string
	maxBytes    int64
	maxAge      time.Duration
	mask        func(text string) string
	call        *returnerCalls
	fire        func(tag string, data *payload.Map)
	subscribe   func(name string, sink bus.Sink)
	calm        func() bool
}

// tagListens is fired when EventReturn listens (salt/utils/event.py, EventReturn.run).
const tagListens = "salt/event_listen/start"

// nameEventReturn is the actor's name, which is that of Salt's process.
const nameEventReturn = "EventReturn"

// mostEvents is how many events a returner gets in one call, unless event_return_queue is larger.
const mostEvents = 500

// returnerCalls calls returners as the master.
type returnerCalls struct {
	registry *loader.Registry
	env      *loader.Env
}

// events hands events to one returner.
func (r *returnerCalls) events(ctx context.Context, name string, events []any) error {
	return returners.Events(loader.NewCall(ctx, r.env, name+".event_return", nil), r.registry, name, events)
}

// missing tells which of some returners lack a function.
func (r *returnerCalls) missing(names []string, fun string) (out []string) {
	for _, name := range names {
		if _, ok := r.registry.Lookup(name + "." + fun); !ok {
			out = append(out, name)
		}
	}
	return out
}

// returnerNames reads a name, names with commas between, or a list of them; each once.
func returnerNames(v any) (out []string) {
	for _, name := range loader.StringList(v) {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// newEventReturn makes the part that hands events to returners; nil when none is configured. Unlike Salt, which says so
// and goes on: a master whose events nobody would get does not start.
func newEventReturn(opt eventReturnOptions, log *slog.Logger) (*returning.Part, error) {
	if len(opt.names) == 0 {
		return nil, nil
	}
	if missing := opt.call.missing(opt.names, "event_return"); len(missing) > 0 {
		return nil, fmt.Errorf("event_return: there is no returner of events %s", strings.Join(missing, ", "))
	}
	e := &returning.Events{Allow: globsOf(opt.allow), Deny: globsOf(opt.deny), Call: opt.call.events}
	var part *returning.Part
	part, err := returning.New(returning.Options{
		Name: nameEventReturn, What: "events", Queue: queue.Options{Dir: opt.dir, Readers: opt.names,
			MaxBytes: opt.maxBytes, MaxAge: opt.maxAge, Memory: memoryOfQueue}, Least: opt.least,
		Most: max(opt.least, mostEvents), MaxWait: opt.maxWait, Hand: e.Hand, Hopeless: returners.Hopeless,
		Mask: opt.mask, Fire: opt.fire, Calm: opt.calm, Log: log,
		Started: func() {
			opt.subscribe(nameEventReturn, e.Sink(part))
			opt.fire(tagListens, payload.NewMap(0))
		}})
	return part, err
}

// memoryOfQueue is how many bytes wait in memory while the disk takes none.
const memoryOfQueue = 8 << 20

func globsOf(patterns []string) []*fnmatch.Pattern {
	out := make([]*fnmatch.Pattern, len(patterns))
	for i, p := range patterns {
		out[i] = fnmatch.Compile(p)
	}
	return out
}

// rows are EventReturn, JobCache and ScheduleReturn as children of the master.
func (e *elsewhere) rows() (out []child) {
	for _, p := range []*returning.Part{e.events, e.jobs, e.runs} {
		if p != nil {
			out = append(out, child{nil, p.Child()})
		}
	}
	return out
}

// close closes what waits, when the actors have ended.
func (e *elsewhere) close() error {
	var all []error
	for _, p := range []*returning.Part{e.events, e.jobs, e.runs} {
		if p != nil {
			all = append(all, p.Close())
		}
	}
	return errors.Join(all...)
}
