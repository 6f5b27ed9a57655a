package copies

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"brine/actors/master/machine"
	"brine/actors/master/returning"
	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/queue"
	"brine/wire/bus"
	"brine/wire/payload"
	"brine/wire/python/fnmatch"
)

// EventOptions are what the configuration says of event_return.
type EventOptions struct {
	Names       []string
	Least       int
	MaxWait     time.Duration
	Allow, Deny []string
	Dir         string
	MaxBytes    int64
	MaxAge      time.Duration
	Mask        func(text string) string
	Machine     *machine.Machine
	Fire        func(tag string, data *payload.Map)
	Subscribe   func(name string, sink bus.Sink)
	Calm        func() bool
}

// tagListens is fired when EventReturn listens (salt/utils/event.py, EventReturn.run).
const tagListens = "salt/event_listen/start"

// nameEventReturn is the actor's name, which is that of Salt's process.
const nameEventReturn = "EventReturn"

// mostEvents is how many events a returner gets in one call, unless event_return_queue is larger.
const mostEvents = 500

// ReturnerNames reads a name, names with commas between, or a list of them; each once.
func ReturnerNames(v any) (out []string) {
	for _, name := range loader.StringList(v) {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// NewEvents makes the part that hands events to returners; nil when none is configured. Unlike Salt, which says so
// and goes on: a master whose events nobody would get does not start.
func NewEvents(opt EventOptions, log *slog.Logger) (*returning.Part, error) {
	if len(opt.Names) == 0 {
		return nil, nil
	}
	if missing := opt.Machine.Missing(opt.Names, "event_return"); len(missing) > 0 {
		return nil, fmt.Errorf("event_return: there is no returner of events %s", strings.Join(missing, ", "))
	}
	e := &returning.Events{Allow: globsOf(opt.Allow), Deny: globsOf(opt.Deny), Call: opt.Machine.ReturnEvents}
	var part *returning.Part
	part, err := returning.New(returning.Options{
		Name: nameEventReturn, What: "events", Queue: queue.Options{Dir: opt.Dir, Readers: opt.Names,
			MaxBytes: opt.MaxBytes, MaxAge: opt.MaxAge, Memory: memoryOfQueue}, Least: opt.Least,
		Most: max(opt.Least, mostEvents), MaxWait: opt.MaxWait, Hand: e.Hand, Hopeless: returners.Hopeless,
		Mask: opt.Mask, Fire: opt.Fire, Calm: opt.Calm, Log: log,
		Started: func() {
			opt.Subscribe(nameEventReturn, e.Sink(part))
			opt.Fire(tagListens, payload.NewMap(0))
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
