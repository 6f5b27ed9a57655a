package minion

import (
	"brine/actors/daemon"
	"brine/actors/minion/copies"
	"brine/actors/minion/facts"
	"brine/actors/minion/jobs"
	"brine/actors/minion/journal"
	"brine/actors/minion/returns"
	"brine/supervisor"
	"brine/wire/bus"
)

// children are added in this order and stopped in the reverse one: who takes work from outside comes last.
//
// One more child is one more row, with a Ref beside those of Minion if others send to it. One that depends on the
// configuration is a method that returns an empty row where there is to be none, like mineTimer. New runs once for each
// incarnation. What outlives an incarnation is made here, once, and handed to New. The flags of supervisor.Spec say
// what part a child has in a stop (Intake, Store) and how soon it is replaced when it hangs (Component).
func (m *Minion) children(mem jobs.Memory) []daemon.Child {
	subs := &bus.Subscribers{}
	rows := []daemon.Child{
		{Spec: supervisor.Spec{Ref: m.bus.Ref(), Name: "EventBus", Component: true, New: func() supervisor.Actor {
			return m.newEventBus(subs)
		}}},
		journal.New(m.journalOptions(mem)),
		m.returnerSpool(),
		facts.NewRefresher(m.refresherOptions()),
		{Spec: supervisor.Spec{Ref: m.files, Name: "FileClient", New: func() supervisor.Actor {
			return &fileClient{}
		}}},
	}
	rows = append(rows, m.jobs.Children()...)
	rows = append(rows,
		m.mineTimer(),
		daemon.Child{Spec: supervisor.Spec{Ref: m.scheduler, Name: "Scheduler", Component: true,
			New: func() supervisor.Actor {
				return &scheduler{m: m, opt: scheduleOptionsOf(m.cfg), plan: m.plan}
			}}})
	for _, l := range m.links {
		rows = append(rows, l.Tree(returns.New(m.returnSenderOptions(l))))
	}
	return rows
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
	return copies.New(m.returnerSpoolOptions())
}

// spawn adds the children. None begins before all are known to each other.
func (m *Minion) spawn(mem jobs.Memory) error {
	rows, err := m.engineRows()
	if err != nil {
		return err
	}
	return daemon.Start{Around: m.opt.around}.Add(m.top, append(m.children(mem), rows...))
}
