package master

import (
	"context"
	"fmt"
	"slices"
	"time"

	"brine/supervisor"
	"brine/wire/bus"
)

// Names of children that others look up.
const (
	nameEventPublisher = "EventPublisher"
	nameMaintenance    = "Maintenance"
	nameReqServer      = "ReqServer"
)

// startTimeout bounds the start of all children, the binding of their sockets included.
const startTimeout = 10 * time.Second

// child is a row of the table of children.
type child struct {
	ref  **supervisor.Ref // where those look that send to it; nil: nobody does
	spec supervisor.Spec  // the zero Spec: the configuration does without it
}

// children are started in this order and stopped in the reverse one. Salt's order is bus before publisher, request
// server last; whoever is to be there for requests stands before that.
func (c *core) children() []child {
	subs := &bus.Subscribers{}
	past := &remembered{rotated: time.Now(), began: time.Now()}
	return slices.Concat([]child{
		{&c.events.ref, supervisor.Spec{Name: nameEventPublisher, Component: true, New: func() supervisor.Actor {
			return &eventPublisher{opt: c.busOptions(subs)}
		}}},
	}, c.elsewhere.rows(), []child{
		{&c.publications.publisher, supervisor.Spec{Name: "Publisher", Component: true, OnLost: c.publications.lost,
			New: func() supervisor.Actor {
				return &publisher{opt: c.publisherOptions()}
			}}},
		{&c.jobs.writer, supervisor.Spec{Name: "JobStore", Store: true, New: func() supervisor.Actor {
			return &jobStore{opt: c.jobStoreOptions()}
		}}},
		c.tracer(),
		{nil, supervisor.Spec{Name: nameMaintenance, New: func() supervisor.Actor {
			return &maintenance{opt: c.upkeep.options(past)}
		}}},
		{&c.pillars.ref, supervisor.Spec{Name: "Pillar", New: pillarOf(c.pillars.options(), newPillarWork())}},
		c.pillars.gitChild(),
		{nil, supervisor.Spec{Name: "FileServer", New: func() supervisor.Actor {
			return &fileServer{opt: c.files.options()}
		}}},
	}, c.reactions.rows(), []child{
		{nil, supervisor.Spec{Name: nameReqServer, Component: true, Intake: true, New: func() supervisor.Actor {
			return &reqServer{opt: c.reqOptions()}
		}}},
	}, c.engines.rows())
}

// spawn adds the children, each when the one before is ready. A death meanwhile ends it.
func (m *Master) spawn(starting context.Context) error {
	ready, cancel := context.WithTimeout(starting, startTimeout)
	defer cancel()
	return m.add(ready, m.core.children())
}

func (m *Master) add(ready context.Context, rows []child) error {
	for _, row := range rows {
		if row.spec.New == nil {
			continue
		}
		ref, err := m.top.Add(row.spec)
		if err != nil {
			return fmt.Errorf("start %s: %w", row.spec.Name, err)
		}
		if row.ref != nil {
			*row.ref = ref
		}
		if err := ref.Ready(ready); err != nil {
			return fmt.Errorf("start %s: %w", row.spec.Name, err)
		}
	}
	return nil
}

// tracer is the Tracer as a child of the master; none without traces.
func (c *core) tracer() child {
	if c.record.trace == nil {
		return child{}
	}
	return child{&c.record.trace.Ref, c.record.trace.Child()}
}
