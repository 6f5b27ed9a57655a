package minion

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"syscall"

	"brine/actors/minion/facts"
	"brine/actors/minion/link"
	"brine/modules/fleet/door"
	"brine/modules/loader"
	"brine/wire/event"
	"brine/wire/payload"
)

// host is what the minion offers to the functions it runs: the interfaces of loader.Host. One belongs to each
// master; jobs of that master ask it, as long as it is there.
type host struct {
	m    *Minion
	link *link.Link // nil: a minion without masters
}

// hostOf are the interfaces as one value.
func hostOf(h host) loader.Host {
	return loader.Host{Master: h, Events: h, Jobs: h, Minion: h, Log: h, Secrets: h, Daemon: h,
		Transfers: transfers{&h.m.files}}
}

// forAll are the requests that every master gets: what they change belongs to the minion.
var forAll = []string{payload.CmdMine, payload.CmdMineDelete, payload.CmdMineFlush}

// Request asks the master of the job.
func (h host) Request(ctx context.Context, load *payload.Map) (any, error) {
	if h.link == nil {
		return nil, link.ErrNoMaster
	}
	if !load.Has("id") {
		load = load.Clone().Set("id", h.m.own.id)
	}
	if slices.Contains(forAll, payload.Command(load)) {
		for _, l := range h.m.links {
			if l != h.link && l.Up() {
				l.Post(&link.Request{Load: load, Timeout: l.ReturnTimeout(), Tries: h.m.times.Load().ReturnRetryTries,
					Done: link.LogFailure(h.m.log, payload.Command(load))})
			}
		}
	}
	now := h.m.times.Load()
	v, err := h.link.Ask(ctx, load, now.RequestChannelTimeout, now.RequestChannelTries)
	return v, forFunction(err)
}

// RequestIn asks the master of the job for a large answer.
func (h host) RequestIn(ctx context.Context, load *payload.Map, room []byte, beside payload.Beside) (any, error) {
	if h.link == nil {
		return nil, link.ErrNoMaster
	}
	now := h.m.times.Load()
	v, err := h.link.AskIn(ctx, load.Clone().Set("id", h.m.own.id), room, beside, now.RequestChannelTimeout,
		now.RequestChannelTries)
	return v, forFunction(err)
}

// forFunction is the error of a request as a function tells it. That there is no session is said without the way there.
func forFunction(err error) error {
	var no *loader.ClientError
	if errors.As(err, &no) {
		return no
	}
	return err
}

// MasterByHost finds a master by its name in the configuration (publish.publish via_master).
func (h host) MasterByHost(name string) (loader.MasterChannel, bool) {
	for _, l := range h.m.links {
		if l.Host() == strings.Trim(name, "[]") {
			return host{h.m, l}, true
		}
	}
	return nil, false
}

// FireMaster sends an event to every master that is there.
func (h host) FireMaster(ctx context.Context, tag string, data any, preload *payload.Map) bool {
	if err := event.CheckTag(tag); err != nil {
		h.m.log.Error("event could not be sent to the master", "err", err)
		return false
	}
	load := link.EventLoad(h.m.own.id, tag, data)
	load.Update(preload)
	ok := false
	for _, l := range h.m.links {
		if !l.Up() && l != h.link {
			continue
		}
		v, err := l.Ask(ctx, load, l.ReturnTimeout(), h.m.times.Load().ReturnRetryTries)
		if err == nil {
			err = payload.Taken(v)
		}
		if err != nil {
			l.Log().Error("event could not be sent to the master", "tag", tag, "err", err)
		}
		ok = ok || err == nil
	}
	return ok
}

// FireLocal fires on the minion's own bus. What is not a map is wrapped, as an event's data is one.
func (h host) FireLocal(ctx context.Context, tag string, data any) bool {
	ctx, cancel := context.WithTimeout(ctx, eventPatience)
	defer cancel()
	h.m.bus.Room().Wait(ctx)
	return h.m.fire(tag, asData(data))
}

func asData(v any) *payload.Map {
	if m, ok := v.(*payload.Map); ok {
		return m
	}
	return payload.M("data", v)
}

// AwaitLocal fires tag and waits for an event whose tag begins with answer.
func (h host) AwaitLocal(ctx context.Context, tag string, data any, answer string) (*payload.Map, bool) {
	got := make(chan *payload.Map, 1)
	stop, err := h.m.bus.Listen(ctx, "await", func(t string, body []byte) {
		if !strings.HasPrefix(t, answer) {
			return
		}
		if _, data, err := event.Unpack(body); err == nil {
			select {
			case got <- data:
			default:
			}
		}
	})
	if err != nil {
		return nil, false
	}
	defer stop()
	h.FireLocal(ctx, tag, data)
	select {
	case m := <-got:
		return m, true
	case <-ctx.Done():
		return nil, false
	}
}

// Running lists the jobs that run, in order of their start.
func (h host) Running() []*payload.Map {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	out, err := h.m.jobs.Running(ctx)
	if err != nil {
		h.m.log.Error("the running jobs are not known", "err", err)
	}
	return out
}

// Signal ends a running job.
func (h host) Signal(jid string, sig int) (string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	text, err := h.m.jobs.Signal(ctx, jid, syscall.Signal(sig))
	return text, err == nil && text != ""
}

// Reload drops what the process caches: the grains are read anew, and modules are asked again whether they load.
func (h host) Reload() error {
	h.m.opt.Registry.Reload()
	h.m.refresher.Send(&facts.RefreshGrains{})
	return nil
}

// Compile gets a fresh pillar without keeping it: from the master, or with file_client: local from this machine.
func (h host) Compile(ctx context.Context, q loader.PillarQuery) (*payload.Map, error) {
	pillar, err := facts.CompilePillar(ctx, h.m.ownPillar, h.m.own.pillar, h.m.facts, h.link, q)
	return pillar, forFunction(err)
}

// Actors shows the actors of this minion.
func (h host) Actors(_ context.Context, path string) (*payload.Map, error) {
	child, err := h.m.top.Look(path)
	if err != nil {
		return nil, err
	}
	return child.Map(), nil
}

// JobList tells what this minion has in hand.
func (h host) JobList(ctx context.Context) (*payload.Map, error) { return h.m.JobList(ctx) }

// Log writes a line of a function to the minion's log.
func (h host) Log(level slog.Level, text string) {
	door.Known(h.m.log).Log(context.Background(), level, text)
}

// LogAs writes one line under another name than that of the actor.
func (h host) LogAs(name string, level slog.Level, text string) {
	h.m.log.Log(context.Background(), level, text, "actor", name)
}

// anyLink is a master that is there, else the first; nil without masters.
func (m *Minion) anyLink() *link.Link {
	if i := slices.IndexFunc(m.links, (*link.Link).Up); i >= 0 {
		return m.links[i]
	}
	if len(m.links) > 0 {
		return m.links[0]
	}
	return nil
}

// JobFacts answers a job function.
func (h host) JobFacts(_ context.Context, jid string) (*payload.Map, error) {
	return h.m.JobFacts(jid), nil
}
