package minion

import (
	"sync"

	"brine/actors/daemon"
	"brine/actors/minion/journal"
	"brine/supervisor"
	"brine/wire/bus"
)

// children are added in this order and stopped in the reverse one: who takes work from outside comes last.
//
// One more child is one more row, with a Ref beside those of Minion if others send to it. One that depends on the
// configuration is a method that returns an empty row where there is to be none, like mineTimer. New runs once for each
// incarnation. What outlives an incarnation is made here, once, and handed to New. The flags of supervisor.Spec say
// what part a child has in a stop (Intake, Store) and how soon it is replaced when it hangs (Component).
func (m *Minion) children(mem memory) []daemon.Child {
	subs := &bus.Subscribers{}
	dispatcherOpt := sync.OnceValue(func() dispatcherOptions { return m.dispatcherOptions(mem) })
	rows := []daemon.Child{
		{Spec: supervisor.Spec{Ref: m.bus.Ref(), Name: "EventBus", Component: true, New: func() supervisor.Actor {
			return m.newEventBus(subs)
		}}},
		journal.New(m.journalOptions(mem)),
		m.returnerSpool(),
		{Spec: supervisor.Spec{Ref: m.refresher, Name: "Refresher", Component: true, New: func() supervisor.Actor {
			return &refresher{opt: m.refresherOptions()}
		}}},
		{Spec: supervisor.Spec{Ref: m.files, Name: "FileClient", New: func() supervisor.Actor {
			return &fileClient{}
		}}},
		m.jobs.Row("Jobs"),
		{Spec: supervisor.Spec{Ref: m.teller, Name: "Teller", New: func() supervisor.Actor { return &teller{m: m} }}},
		{Spec: supervisor.Spec{Ref: m.dispatcher, Name: "Dispatcher", Component: true, New: func() supervisor.Actor {
			return &dispatcher{opt: dispatcherOpt()}
		}}},
		m.mineTimer(),
		{Spec: supervisor.Spec{Ref: m.scheduler, Name: "Scheduler", Component: true, New: func() supervisor.Actor {
			return &scheduler{m: m, opt: scheduleOptionsOf(m.cfg), plan: m.plan}
		}}},
	}
	for _, l := range m.links {
		rows = append(rows, m.connection(l))
	}
	return rows
}

// connection is the subtree of one master.
func (m *Minion) connection(l *link) daemon.Child {
	unkept, held := &[]*SendReturn{}, &heldFrames{most: m.bounds.held, mostBytes: m.bounds.heldBytes}
	return daemon.NewTree(supervisor.Options{}, []daemon.Child{
		{Spec: supervisor.Spec{Ref: l.sender, Name: "ReturnSender", Component: true, Store: true,
			New: func() supervisor.Actor {
				return &returnSender{opt: m.returnSenderOptions(l, unkept)}
			}}},
		{Spec: supervisor.Spec{Ref: l.subscriber, Name: "Subscriber", Component: true, Intake: true,
			New: func() supervisor.Actor {
				return &subscriber{opt: m.subscriberOptions(l, held)}
			}}},
		m.pinger(l),
		{Spec: supervisor.Spec{Ref: l.authenticator, Name: "Authenticator", Component: true, Intake: true,
			New: func() supervisor.Actor {
				return &authenticator{opt: authenticatorOptions{link: l, exit: m.opt.Exit}}
			}}},
	}...).Row("Master-" + l.name())
}

// mineTimer is the row of the MineTimer, unless the mine is off.
func (m *Minion) mineTimer() daemon.Child {
	if !m.mines() {
		return daemon.Child{}
	}
	return daemon.Child{Spec: supervisor.Spec{Ref: m.mine, Name: "MineTimer", New: func() supervisor.Actor {
		return &mineTimer{m: m, every: m.cfg.MineInterval}
	}}}
}

func (m *Minion) mines() bool { return m.cfg.MineEnabled && m.cfg.MineInterval > 0 }

// returnerSpool is the row of the ReturnerSpool, unless there are no returners.
func (m *Minion) returnerSpool() daemon.Child {
	if m.opt.Returners == nil {
		return daemon.Child{}
	}
	spool := func() supervisor.Actor { return &returnerSpool{opt: m.returnerSpoolOptions()} }
	return daemon.Child{Spec: supervisor.Spec{Ref: m.returners, Name: "ReturnerSpool", Store: true, New: spool}}
}

// pinger is the row of the Pinger of a master, unless there are no pings.
func (m *Minion) pinger(l *link) daemon.Child {
	if m.cfg.PingInterval <= 0 {
		return daemon.Child{}
	}
	return daemon.Child{Spec: supervisor.Spec{Name: "Pinger", New: func() supervisor.Actor {
		return &pinger{m: m, every: m.cfg.PingInterval, anew: m.cfg.AuthSafemode, link: l}
	}}}
}

// spawn adds the children. None begins before all are known to each other.
func (m *Minion) spawn(mem memory) error {
	rows, err := m.engineRows()
	if err != nil {
		return err
	}
	m.job = m.newJobOptions()
	return daemon.Start{Around: m.opt.around}.Add(m.top, append(m.children(mem), rows...))
}
