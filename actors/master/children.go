package master

import (
	"context"
	"time"

	"brine/actors/daemon"
	"brine/actors/master/reqserver"
	"brine/actors/reacting"
	"brine/supervisor"
)

// Names of children that others look up.
const (
	nameEventPublisher = "EventPublisher"
	nameMaintenance    = "Maintenance"
	nameReqServer      = "ReqServer"
)

// startTimeout bounds the start of all children, the binding of their sockets included.
const startTimeout = 10 * time.Second

// children are started in this order and stopped in the reverse one. Salt's order is bus before publisher, request
// server last; whoever is to be there for requests stands before that.
func (c *core) children() []daemon.Child {
	rows := []daemon.Child{{Spec: c.events.Child(nameEventPublisher, c.busOptions())}}
	for _, p := range c.handed() {
		rows = append(rows, daemon.Child{Spec: p.Child()})
	}
	for _, spec := range []supervisor.Spec{c.publications.Child(c.publisherOptions()),
		c.jobs.Child(c.jobStoreOptions()), c.record.Trace.Child(), c.upkeep.Child(nameMaintenance), c.pillars.Child(),
		c.pillars.GitChild(), c.files.Child()} {
		rows = append(rows, daemon.Child{Spec: spec})
	}
	rows = append(rows, reactorRows(c.reactions.Part())...)
	rows = append(rows, daemon.Child{Spec: reqserver.Child(nameReqServer, c.reqOptions())})
	return append(rows, daemon.EngineRows(c.engines)...)
}

// reactorRows are the Reactor as children of the master; none where there is none.
func reactorRows(part *reacting.Part) []daemon.Child {
	if part == nil {
		return nil
	}
	return []daemon.Child{{Spec: part.Keeper()}, {Spec: part.Child()}}
}

// addReactor starts the Reactor of a running master.
func (m *Master) addReactor(part *reacting.Part) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	return m.add(ctx, reactorRows(part))
}

// spawn adds the children, each when the one before is ready. A death meanwhile ends it.
func (m *Master) spawn(starting context.Context) error {
	ready, cancel := context.WithTimeout(starting, startTimeout)
	defer cancel()
	return m.add(ready, m.core.children())
}

func (m *Master) add(ready context.Context, rows []daemon.Child) error {
	return daemon.Start{Ready: ready}.Add(m.top, rows)
}
