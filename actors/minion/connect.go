package minion

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"brine/actors/minion/journal"
	"brine/modules/loader"
	"brine/modules/returners/spool"
	"brine/supervisor"
	"brine/wire/bus"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
)

func (m *Minion) returnSenderOptions(l *link, unkept *[]*SendReturn) returnSenderOptions {
	return returnSenderOptions{link: l, log: l.log, journal: m.journal, most: m.bounds.returns, calm: m.steady.Calm,
		maxBytes: m.cfg.ReturnSpoolMaxBytes, maxAge: m.cfg.ReturnSpoolMaxAge, diary: m.diary,
		heeded: m.heeded, unkept: unkept}
}

func (m *Minion) subscriberOptions(l *link, held *heldFrames) subscriberOptions {
	return subscriberOptions{link: l, held: held, dispatcher: m.dispatcher,
		pillar:  func(done func(error)) { m.refresher.Send(&RefreshPillar{Link: l, Done: done}) },
		onReady: func() { m.onReady(l) }, diary: m.diary,
	}
}

// returnerSpoolOptions are those of the ReturnerSpool.
func (m *Minion) returnerSpoolOptions() returnerSpoolOptions {
	return returnerSpoolOptions{
		spool: spool.Options{Dir: filepath.Join(m.cfg.CacheDir, "returners"), MaxBytes: m.cfg.ReturnSpoolMaxBytes,
			MaxAge: m.cfg.ReturnSpoolMaxAge,
			Sync:   m.cfg.JournalFsync},
		registry: m.opt.Returners, env: func() *loader.Env {
			return m.env
		}, disabled: m.own.disabled, calm: m.steady.Calm, clock: m.clock, log: m.log,
	}
}

func (m *Minion) refresherOptions() refresherOptions {
	return refresherOptions{asked: m.own.pillar, compiles: &m.compiles, stored: func() {
		m.scheduler.Send(&PillarStored{})
	}, keepIn: keepsPillarIn(m.cfg), every: m.cfg.GrainsRefreshEvery, facts: m.facts, links: m.links,
		most: m.bounds.refreshes, clock: m.clock, log: m.log}
}

func (m *Minion) journalOptions(mem memory) journal.Options {
	opt := journal.Options{Ref: m.journal, Path: m.journalPath(), First: mem.file, Sync: m.cfg.JournalFsync,
		Clock: m.clock, Log: m.log}
	if mem.file == nil {
		var once sync.Once
		opt.Opened = func(file *journal.File) { once.Do(func() { m.recallLate(file, mem.keys) }) }
	}
	return opt
}

// onReady fires the start events of a master, the first time that jobs can come from it.
func (m *Minion) onReady(l *link) {
	l.log.Info("Minion is ready to receive requests!")
	text := fmt.Sprintf("Minion %s started at %s", m.cfg.ID, m.clock.Now().Format("Mon Jan _2 15:04:05 2006"))
	tags := []string{event.TagMinionStarted(m.cfg.ID)}
	if m.cfg.LegacyStartupEvents {
		tags = append([]string{event.TagMinionStart}, tags...)
	}
	for _, tag := range tags {
		load := m.eventLoad(tag, text)
		if len(m.cfg.StartEventGrains) > 0 {
			load.Set("grains", someGrains(l.facts.grains(), m.cfg.StartEventGrains))
		}
		l.post(&SendRequest{Load: load, Done: m.logFailure(tag)})
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

// alive tells whether a process exists that is a minion's, by its command line.
func alive(pid int) bool {
	if pid <= 0 || syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err != nil || bytes.Contains(b, []byte("salt")) || bytes.Contains(b, []byte("brine"))
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
