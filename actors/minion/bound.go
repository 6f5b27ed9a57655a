package minion

import (
	"log/slog"
	"slices"
	"time"

	"brine/actors/daemon"
	"brine/actors/minion/link"
	"brine/actors/minion/returns"
)

// bounds are the limits of what may wait in a minion (docs/decisions/0029).
type bounds struct {
	publications     int   // that come, and that the Dispatcher has not looked at
	publicationBytes int64 // of those that the Subscriber has not looked at
	held             int   // publications that wait for a sign-in
	heldBytes        int
	events           int   // of local tools and functions, for the bus
	eventBytes       int64 // of those
	requests         int   // for others, to one master
	refreshes        int   // who wait for grains, or for the pillar of one master
	actors           int   // of jobs that process_count_max does not count
	queueBytes       int   // of publications in the job queue
	returns          int   // that one master has not acknowledged
}

func defaultBounds() bounds {
	return bounds{publications: 1000, publicationBytes: 64 << 20, held: 1000, heldBytes: 64 << 20, events: 500,
		eventBytes: 32 << 20, requests: 1000, refreshes: 1000, actors: 1000, queueBytes: 256 << 20, returns: 50_000}
}

// eventPatience is how long a function waits until its event has a place on the bus.
const eventPatience = 2 * time.Second

// busBound is the room of the bus. A local tool that fires too many events waits: its socket is not read. What it asks
// of masters counts, too.
func (m *Minion) busBound() *daemon.Bound {
	asked := func() bool {
		return !slices.ContainsFunc(m.links, func(l *link.Link) bool { return l.Asking().Fill() >= 0.5 })
	}
	return daemon.NewBound(daemon.BoundOptions{What: "events for the bus", Most: m.bounds.events,
		MostBytes: m.bounds.eventBytes, Also: asked, Bell: m.bell, Log: m.log})
}

// boundsOf makes the rooms of a connection.
func (m *Minion) boundsOf(waits *returns.Waiting, log *slog.Logger) (coming, asking *daemon.Bound) {
	asking = daemon.NewBound(daemon.BoundOptions{What: "requests of tools and jobs to the master",
		Most: m.bounds.requests, Bell: m.bell, Log: log})
	heeded := func() bool {
		// a master that is away, or takes no returns, is not waited for: the oldest returns are dropped
		return m.jobs.Depth() < m.bounds.publications && waits.Returns.Load() < 2*int64(m.bounds.returns)
	}
	return daemon.NewBound(daemon.BoundOptions{What: "publications", Most: m.bounds.publications,
		MostBytes: m.bounds.publicationBytes, Also: heeded, Bell: m.heeded, Log: log}), asking
}
