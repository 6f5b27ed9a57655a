package master

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"brine/actors/master/returning"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/returners"
	"brine/modules/returners/queue"
	"brine/wire/bus"
	"brine/wire/payload"
)

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
	machine     *machine
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
	if missing := opt.machine.missing(opt.names, "event_return"); len(missing) > 0 {
		return nil, fmt.Errorf("event_return: there is no returner of events %s", strings.Join(missing, ", "))
	}
	e := &returning.Events{Allow: globsOf(opt.allow), Deny: globsOf(opt.deny), Call: opt.machine.returnEvents}
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

func globsOf(patterns []string) []*matchers.Glob {
	out := make([]*matchers.Glob, len(patterns))
	for i, p := range patterns {
		out[i] = matchers.CompileGlob(p)
	}
	return out
}
