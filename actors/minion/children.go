package minion

import (
	"fmt"
	"sync"
	"time"

	"brine/supervisor"
	"brine/wire/bus"
)

// child is a row of a table of children: an actor, or a subtree with children of its own.
type child struct {
	ref  **supervisor.Ref // where those look that send to it; nil: nobody does
	spec supervisor.Spec  // New nil: the configuration does without it
	tree *subtree         // of a subtree, of which spec is only the name
}

// subtree is a supervisor among the children.
type subtree struct {
	ref      **supervisor.Supervisor // who adds children to it later; nil: nobody does
	opt      supervisor.Options
	children []child // from the start
}

// children are added in this order and stopped in the reverse one: who takes work from outside comes last.
//
// One more child is one more row, such as
//
//	{ref: &m.reactor, spec: supervisor.Spec{Name: "Reactor", New: func() supervisor.Actor { return &reactor{m: m} }}},
//
// and, if others send to it, its Ref beside those of Minion. One that depends on the configuration is a method that
// returns an empty row where there is to be none, like mineTimer. New runs once for each incarnation, when all Refs of
// the tables are set, in whatever order the rows stand; before that they are nil. What outlives an incarnation is made
// here, once, and handed to New. The flags of supervisor.Spec say what part a child has in a stop (Intake, Store) and
// how soon it is replaced when it hangs (Component).
func (m *Minion) children(mem memory) []child {
	subs := &bus.Subscribers{}
	journalOpt := m.journalOptions(mem)
	dispatcherOpt := sync.OnceValue(func() dispatcherOptions { return m.dispatcherOptions(mem) })
	rows := []child{
		{ref: &m.bus, spec: supervisor.Spec{Name: "EventBus", Component: true, New: func() supervisor.Actor {
			return m.newEventBus(subs)
		}}},
		{ref: &m.journal, spec: supervisor.Spec{Name: "Journal", Store: true, New: func() supervisor.Actor {
			return &journal{opt: journalOpt}
		}}},
		m.returnerSpool(),
		{ref: &m.refresher, spec: supervisor.Spec{Name: "Refresher", Component: true, New: func() supervisor.Actor {
			return &refresher{opt: m.refresherOptions()}
		}}},
		{ref: &m.files, spec: supervisor.Spec{Name: "FileClient", New: func() supervisor.Actor {
			return &fileClient{}
		}}},
		{spec: supervisor.Spec{Name: "Jobs"}, tree: &subtree{ref: &m.jobs,
			opt: supervisor.Options{WaitForKill: time.Second}}},
		{ref: &m.teller, spec: supervisor.Spec{Name: "Teller", New: func() supervisor.Actor { return &teller{m: m} }}},
		{ref: &m.dispatcher, spec: supervisor.Spec{Name: "Dispatcher", Component: true, New: func() supervisor.Actor {
			return &dispatcher{opt: dispatcherOpt()}
		}}},
		m.mineTimer(),
		{ref: &m.scheduler, spec: supervisor.Spec{Name: "Scheduler", Component: true, New: func() supervisor.Actor {
			return &scheduler{m: m, opt: scheduleOptionsOf(m.cfg), plan: m.plan}
		}}},
	}
	for _, l := range m.links {
		rows = append(rows, m.connection(l))
	}
	return rows
}

// connection is the subtree of one master.
func (m *Minion) connection(l *link) child {
	unkept, held := &[]*SendReturn{}, &heldFrames{most: m.bounds.held, mostBytes: m.bounds.heldBytes}
	return child{spec: supervisor.Spec{Name: "Master-" + l.name()}, tree: &subtree{children: []child{
		{ref: &l.sender, spec: supervisor.Spec{Name: "ReturnSender", Component: true, Store: true,
			New: func() supervisor.Actor {
				return &returnSender{opt: m.returnSenderOptions(l, unkept)}
			}}},
		{ref: &l.subscriber, spec: supervisor.Spec{Name: "Subscriber", Component: true, Intake: true,
			New: func() supervisor.Actor {
				return &subscriber{opt: m.subscriberOptions(l, held)}
			}}},
		m.pinger(l),
		{ref: &l.authenticator, spec: supervisor.Spec{Name: "Authenticator", Component: true, Intake: true,
			New: func() supervisor.Actor {
				return &authenticator{opt: authenticatorOptions{link: l, exit: m.opt.Exit}}
			}}},
	}}}
}

// mineTimer is the row of the MineTimer, unless the mine is off.
func (m *Minion) mineTimer() child {
	if !m.cfg.MineEnabled || m.cfg.MineInterval <= 0 {
		return child{}
	}
	return child{ref: &m.mine, spec: supervisor.Spec{Name: "MineTimer", New: func() supervisor.Actor {
		return &mineTimer{m: m, every: m.cfg.MineInterval}
	}}}
}

// returnerSpool is the row of the ReturnerSpool, unless there are no returners.
func (m *Minion) returnerSpool() child {
	if m.opt.Returners == nil {
		return child{}
	}
	spool := func() supervisor.Actor { return &returnerSpool{opt: m.returnerSpoolOptions()} }
	return child{ref: &m.returners, spec: supervisor.Spec{Name: "ReturnerSpool", Store: true, New: spool}}
}

// pinger is the row of the Pinger of a master, unless there are no pings.
func (m *Minion) pinger(l *link) child {
	if m.cfg.PingInterval <= 0 {
		return child{}
	}
	return child{spec: supervisor.Spec{Name: "Pinger", New: func() supervisor.Actor {
		return &pinger{m: m, every: m.cfg.PingInterval, anew: m.cfg.AuthSafemode, link: l}
	}}}
}

// spawn adds the children. None begins before all are known to each other.
func (m *Minion) spawn(mem memory) error {
	defer close(m.wired)
	rows, err := m.engineRows()
	if err != nil {
		return err
	}
	err = m.add(m.top, append(m.children(mem), rows...))
	m.job = m.newJobOptions()
	return err
}

// add adds the children of a table to their supervisor, as far as the first that cannot be added.
func (m *Minion) add(to *supervisor.Supervisor, rows []child) error {
	for _, row := range rows {
		if err := m.addOne(to, row); err != nil {
			return fmt.Errorf("start %s: %w", row.spec.Name, err)
		}
	}
	return nil
}

func (m *Minion) addOne(to *supervisor.Supervisor, row child) error {
	switch {
	case row.tree != nil:
		tree, err := to.AddTree(row.spec.Name, row.tree.opt)
		if err != nil {
			return err
		}
		if row.tree.ref != nil {
			*row.tree.ref = tree
		}
		return m.add(tree, row.tree.children)
	case row.spec.New == nil:
		return nil
	}
	ref, err := to.Add(m.waiting(row.spec))
	if err == nil && row.ref != nil {
		*row.ref = ref
	}
	return err
}

// waiting is a child that begins when its neighbours are known.
func (m *Minion) waiting(spec supervisor.Spec) supervisor.Spec {
	inner := spec.New
	spec.New = func() supervisor.Actor {
		<-m.wired
		made := inner()
		if m.opt.around != nil {
			made = m.opt.around(spec.Name, made)
		}
		return made
	}
	return spec
}
