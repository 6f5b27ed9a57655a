package minion

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"brine/supervisor"
	"brine/wire/bus"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// connect starts the subtree of one master.
func (m *Minion) connect(l *link) error {
	tree, err := m.top.AddTree("Master-"+l.name(), supervisor.Options{})
	if err != nil {
		return err
	}
	add, intake := m.adder(tree, &err), m.adderOf(tree, &err, supervisor.Spec{Component: true, Intake: true})
	store := m.adderOf(tree, &err, supervisor.Spec{Component: true, Store: true})
	send := returnSenderOptions{link: l, log: l.log, journal: m.journal, most: m.bounds.returns, calm: m.steady.Calm, maxBytes: m.cfg.ReturnSpoolMaxBytes, maxAge: m.cfg.ReturnSpoolMaxAge, diary: m.diary,
		unkept: &[]*SendReturn{}}
	store(&l.sender, "ReturnSender", func() actor.Actor { return &returnSender{opt: send} })
	sub := subscriberOptions{link: l, held: &heldFrames{most: m.bounds.held, mostBytes: m.bounds.heldBytes}, dispatcher: func() *supervisor.Ref { return m.dispatcher },
		pillar:  func(done func(error)) { m.refresher.Send(&RefreshPillar{Link: l, Done: done}) },
		onReady: func() { m.onReady(l) }, diary: m.diary,
	}
	intake(&l.subscriber, "Subscriber", func() actor.Actor { return &subscriber{opt: sub} })
	if m.cfg.PingInterval > 0 {
		var ping *supervisor.Ref
		add(&ping, "Pinger", func() actor.Actor { return &pinger{m: m, link: l} })
	}
	intake(&l.authenticator, "Authenticator", func() actor.Actor {
		return &authenticator{opt: authenticatorOptions{link: l, exit: m.opt.Exit}}
	})
	return err
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
			load.Set("grains", m.someGrains(m.cfg.StartEventGrains))
		}
		l.post(&SendRequest{Load: load, Done: m.logFailure(tag)})
	}
	if m.mine != nil {
		m.mine.Send(&BeginMine{})
	}
	if m.opt.Ready != nil {
		m.opt.Ready()
	}
}

func (m *Minion) someGrains(names []string) *payload.Map {
	out, all := payload.NewMap(len(names)), m.facts.grains()
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
