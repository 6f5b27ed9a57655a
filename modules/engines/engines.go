// Package engines is what runs beside the jobs of a master or a minion for as long as the daemon does: scripts whose
// lines become events, a port for webhooks, events that go elsewhere, and programs by the door (see Door), which may be
// anything. An engine takes the daemon through a small interface, and ends when its context does, or with an error; who
// keeps it alive is none of its business. The Reactor is an engine by its name only: a daemon has it as a part
// (actors/reacting). Answers to salt/engines.
package engines

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"brine/wire/payload"
)

// Daemon is what an engine has of the daemon around it. Any number of goroutines may use it.
type Daemon interface {
	// Listen shows all events of the daemon's bus from now on to sink, which must not block and may keep body, but not
	// change it. Who listens calls stop at the end.
	Listen(ctx context.Context, sink func(tag string, body []byte)) (stop func(), err error)
	// Fire puts an event on the master's bus; a minion sends it to its masters, or, where it has none, takes its own
	// bus. It may wait for room. data is not kept.
	Fire(ctx context.Context, tag string, data *payload.Map) error
	// Call runs a function: client is "execution", and on a master "runner" or "wheel", too.
	Call(ctx context.Context, client, fun string, args []any, kw *payload.Map) (any, error)
}

// Surroundings are what engines are told of the daemon they belong to.
type Surroundings struct {
	Daemon   Daemon
	Role     string // "master" or "minion"
	ID       string // of the daemon
	MaxEvent int    // max_event_size in bytes; 0: no limit
	Log      *slog.Logger
}

// Engine is what a supervised child does. Run blocks until ctx ends or the engine cannot go on. It may be called anew
// after it has returned, and leaves nothing behind.
type Engine interface {
	Run(ctx context.Context, s Surroundings) error
}

// Reactor is the module of the engine that a daemon has as a part of its own.
const Reactor = "reactor"

// ErrEnded is what becomes of an engine whose work has come to an end, which none is to have.
var ErrEnded = errors.New("the engine has ended")

// makers are the engines that are here, by their module.
var makers = map[string]func(*fields) Engine{
	"script": newScript, "test": newListener, "webhook": newWebhook, "http_logstash": newLogstash,
}

// Names are the modules of the engines that are here.
func Names() []string {
	names := []string{Reactor}
	for name := range makers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Named is an engine of the configuration.
type Named struct {
	Name   string // of the child, without what its kind puts before it: unique, without "/" and "#"
	Module string
	Engine Engine         // nil: the Reactor
	Tuning *ReactorTuning // of the Reactor; nil: of another one
}

// ReactorTuning are the options of the engine reactor, which stand above those of the configuration. Negative: not
// given.
type ReactorTuning struct{ Refresh, Threads, Queue int }

// Parse reads the option engines: a list of names and of maps {name: options}, or one map. An option engine_module says
// which engine it is, where the name does not; an option program makes it one by the door. Errors name what is wrong,
// all of it. Unlike Salt, which passes over engines that it does not have, and starts one with wrong options again and
// again.
func Parse(option any, role string) ([]Named, error) {
	var all []Named
	var failed error
	for entry := range entriesOf(option) {
		one, err := entry.make(role)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		one.Name = unique(all, one.Name)
		all = append(all, one)
	}
	return all, failed
}

// entry is a member of the option.
type entry struct {
	name    string
	options any
	fault   string
}

// entriesOf goes through both forms of the option.
func entriesOf(option any) func(yield func(entry) bool) {
	return func(yield func(entry) bool) {
		switch v := option.(type) {
		case nil:
		case *payload.Map:
			for name, options := range v.All() {
				if !yield(entry{name: text(name), options: options}) {
					return
				}
			}
		case []any:
			for _, member := range v {
				if !yield(entryOf(member)) {
					return
				}
			}
		default:
			yield(entry{fault: "neither a list nor a map"})
		}
	}
}

func entryOf(member any) entry {
	m, ok := member.(*payload.Map)
	switch {
	case !ok:
		if name, ok := member.(string); ok {
			return entry{name: name}
		}
		return entry{fault: fmt.Sprintf("%v is neither a name nor a map", member)}
	case m.Len() != 1:
		return entry{fault: fmt.Sprintf("an entry with the names %v: it must have one, with its options indented "+
			"below it", m.Keys())}
	}
	name := m.Keys()[0]
	return entry{name: text(name), options: m.Value(name)}
}

func (e entry) make(role string) (Named, error) {
	if e.fault != "" {
		return Named{}, errors.New(e.fault)
	}
	options, ok := e.options.(*payload.Map)
	if !ok && e.options != nil {
		return Named{}, fmt.Errorf("engine '%s': its options are no map", e.name)
	}
	f := &fields{m: options.Clone()}
	module := e.name
	if f.has("engine_module") {
		module = f.text("engine_module", "")
	}
	n := Named{Name: tame(e.name), Module: module}
	make := makers[module]
	switch {
	case f.has("program"):
		n.Module, n.Engine = "program", newDoor(e.name, f)
	case module == Reactor:
		n.Tuning = &ReactorTuning{f.whole("refresh_interval", -1), f.whole("worker_threads", -1),
			f.whole("worker_hwm", -1)}
	case make == nil:
		return Named{}, fmt.Errorf("engine '%s': there is no engine %s here (there are %s); a program can take its "+
			"place, by the option program (docs/engines.md)",
			e.name, module, strings.Join(Names(), ", "))
	default:
		n.Engine = make(f)
	}
	if err := f.close(); err != nil {
		return Named{}, fmt.Errorf("engine '%s': %w", e.name, err)
	}
	return n, nil
}

// tame makes the name of an actor.
func tame(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '#' || r <= ' ' || r == 0x7f {
			return '_'
		}
		return r
	}, name)
	if name == "" {
		return "_"
	}
	return name
}

// unique numbers the second one of a name, and those behind it.
func unique(all []Named, name string) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(all, func(n Named) bool { return n.Name == name })
	}
	tried := name
	for i := 2; taken(tried); i++ {
		tried = fmt.Sprintf("%s-%d", name, i)
	}
	return tried
}

func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return fmt.Sprint(v)
}
