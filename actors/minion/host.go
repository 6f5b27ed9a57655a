package minion

import (
	"context"
	"log/slog"
	"slices"
	"syscall"

	"brine/supervisor"
	"brine/wire/event"
	"brine/wire/payload"
)

// host is what the minion offers to the functions it runs: the interfaces of modules.Host.
type host struct {
	m *Minion
}

// Request asks the first connected master, else the first one, which then has to be waited for.
func (h host) Request(ctx context.Context, load *payload.Map) (any, error) {
	l := h.m.anyLink()
	if l == nil {
		return nil, errNoMaster
	}
	if !load.Has("id") {
		load = load.Clone().Set("id", h.m.cfg.ID)
	}
	return l.request(ctx, load, h.m.cfg.RequestChannelTimeout, h.m.cfg.RequestChannelTries)
}

// FireMaster sends an event to every connected master.
func (h host) FireMaster(ctx context.Context, tag string, data any, preload *payload.Map) bool {
	load := payload.M("id", h.m.cfg.ID, "cmd", payload.CmdMinionEvent, "pretag", nil, "tag", tag, "data", data)
	load.Update(preload)
	ok := false
	for _, l := range h.m.links {
		if !l.connected.Load() {
			continue
		}
		_, err := l.request(ctx, load, l.returnTimeout(), h.m.cfg.ReturnRetryTries)
		if err != nil {
			h.m.log.Error("event could not be sent to the master", "tag", tag, "err", err)
		}
		ok = ok || err == nil
	}
	return ok
}

// FireLocal fires on the minion's own bus. What is not a map is wrapped, as an event's data is one.
func (h host) FireLocal(_ context.Context, tag string, data any) bool {
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
	stands := make(chan struct{})
	name := "await-" + tag + payload.NewJID(h.m.now())
	h.m.bus.Send(&Subscribe{Name: name, Done: stands, Sink: func(t string, body []byte) {
		if len(t) < len(answer) || t[:len(answer)] != answer {
			return
		}
		if _, data, err := event.Unpack(body); err == nil {
			select {
			case got <- data:
			default:
			}
		}
	}})
	defer h.m.bus.Send(&Unsubscribe{Name: name})
	select {
	case <-stands:
	case <-ctx.Done():
		return nil, false
	}
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
	jobs, err := supervisor.Ask(ctx, h.m.dispatcher, func(r chan<- []*payload.Map) any { return &GetRunning{Reply: r} })
	if err != nil {
		h.m.log.Error("the running jobs are not known", "err", err)
	}
	return jobs
}

// Signal ends a running job.
func (h host) Signal(jid string, sig int) (string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	text, err := supervisor.Ask(ctx, h.m.dispatcher, func(r chan<- string) any {
		return &SignalJob{JID: jid, Sig: syscall.Signal(sig), Reply: r}
	})
	return text, err == nil && text != ""
}

// Reload drops what the process caches: grains and pillar are read anew.
func (h host) Reload() error {
	h.m.refresher.Send(&RefreshGrains{})
	return nil
}

// Compile asks the master for a fresh pillar without keeping it.
func (h host) Compile(ctx context.Context, saltenv, pillarenv string, override *payload.Map) (*payload.Map, error) {
	l := h.m.anyLink()
	if l == nil {
		return nil, errNoMaster
	}
	load := pillarLoad(h.m.cfg, h.m.facts.grains.Load())
	load.Set("saltenv", textOrNil(saltenv)).Set("pillarenv", textOrNil(pillarenv))
	if override.Len() > 0 {
		load.Set("pillar_override", override)
	}
	return l.pillar(ctx, load)
}

// Log writes a line of a function to the minion's log.
func (h host) Log(level slog.Level, text string) { h.m.log.Log(context.Background(), level, text) }

// anyLink is a connected master, else the first; nil without masters.
func (m *Minion) anyLink() *link {
	if i := slices.IndexFunc(m.links, func(l *link) bool { return l.connected.Load() }); i >= 0 {
		return m.links[i]
	}
	if len(m.links) > 0 {
		return m.links[0]
	}
	return nil
}
