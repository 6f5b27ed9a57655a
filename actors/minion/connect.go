package minion

import (
	"fmt"
	"path/filepath"

	"brine/actors/minion/copies"
	"brine/actors/minion/facts"
	"brine/actors/minion/jobs"
	"brine/actors/minion/journal"
	"brine/actors/minion/link"
	"brine/actors/minion/returns"
	"brine/config"
	"brine/modules/returners/spool"
	"brine/supervisor"
	"brine/wire/bus"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
)

func (m *Minion) returnSenderOptions(l *link.Link) returns.Options {
	return returns.Options{Link: l, Waits: m.waits[l], Clock: m.clock, Meter: m.meter, Log: l.Log(),
		Journal: m.journal, Most: m.bounds.returns, Calm: m.steady.Calm, MaxBytes: m.cfg.ReturnSpoolMaxBytes,
		MaxAge: m.cfg.ReturnSpoolMaxAge, Diary: m.diary, Heeded: m.heeded}
}

// copies.Options are those of the ReturnerSpool.
func (m *Minion) returnerSpoolOptions() copies.Options {
	return copies.Options{
		Ref: m.returners,
		Spool: spool.Options{Dir: filepath.Join(m.cfg.CacheDir, "returners"), MaxBytes: m.cfg.ReturnSpoolMaxBytes,
			MaxAge: m.cfg.ReturnSpoolMaxAge,
			Sync:   m.cfg.JournalFsync},
		Registry: m.opt.Returners, Env: m.envs[nil], Disabled: m.own.disabled, Calm: m.steady.Calm, Clock: m.clock,
		Log: m.log,
	}
}

func (m *Minion) refresherOptions() facts.RefresherOptions {
	return facts.RefresherOptions{Ref: m.refresher, Asked: m.own.pillar, Source: m.ownPillar, Stored: func() {
		m.scheduler.Send(&PillarStored{})
	}, KeepIn: keepsPillarIn(m.cfg), Every: m.cfg.GrainsRefreshEvery, Facts: m.facts, Masters: m.links,
		Most: m.bounds.refreshes, Clock: m.clock, Log: m.log}
}

func (m *Minion) journalOptions(mem jobs.Memory) journal.Options {
	return journal.Options{Ref: m.journal, Path: m.journalPath(), First: mem.File, Sync: m.cfg.JournalFsync,
		Opened: m.jobs.RecallLate, Clock: m.clock, Log: m.log}
}

// onReady fires the start events of a master, the first time that jobs can come from it.
func (m *Minion) onReady(l *link.Link) {
	l.Log().Info("Minion is ready to receive requests!")
	text := fmt.Sprintf("Minion %s started at %s", m.cfg.ID, m.clock.Now().Format("Mon Jan _2 15:04:05 2006"))
	tags := []string{event.TagMinionStarted(m.cfg.ID)}
	if m.cfg.LegacyStartupEvents {
		tags = append([]string{event.TagMinionStart}, tags...)
	}
	for _, tag := range tags {
		load := link.EventLoad(m.own.id, tag, text)
		if len(m.cfg.StartEventGrains) > 0 {
			load.Set("grains", someGrains(m.facts.Of(l).Grains(), m.cfg.StartEventGrains))
		}
		l.Post(&link.Request{Load: load, Done: link.LogFailure(m.log, tag)})
	}
	if m.mine != nil {
		m.mine.Send(&BeginMine{})
	}
	m.scheduler.Send(&BeginSchedule{})
	if m.opt.Ready != nil {
		m.opt.Ready()
	}
}

func someGrains(all *payload.Map, names []string) *payload.Map {
	out := payload.NewMap(len(names))
	for _, n := range names {
		if v, ok := all.Get(n); ok {
			out.Set(n, v)
		}
	}
	return out
}

func (m *Minion) newEventBus(subs *bus.Subscribers) *eventBus {
	return &eventBus{open: m.openBus, subs: subs, handlers: m.busHandlers(), room: m.bus.Room()}
}

func (m *Minion) openBus(subs *bus.Subscribers) *bus.Bus {
	pub, pull, err := event.MinionSockets(m.cfg.ID, m.cfg.HashType)
	if err != nil {
		supervisor.Crash(fmt.Errorf("event bus: %w", err))
	}
	framing := ipc.FramingPlain
	if m.cfg.IPCFraming == "length" {
		framing = ipc.FramingLength
	}
	return bus.New(
		ipc.PubOptions{Path: filepath.Join(m.cfg.SockDir, pub), Framing: framing, Queue: m.cfg.EventQueueMax},
		ipc.PullOptions{Path: filepath.Join(m.cfg.SockDir, pull)}, subs)
}

func (m *Minion) journalPath() string { return filepath.Join(m.cfg.CacheDir, config.JobsJournal) }
