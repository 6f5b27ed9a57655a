package meter

import (
	"fmt"
	"os"

	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/modules/host/gauges"

	"github.com/prometheus/client_golang/prometheus"
)

// What the master is asked for when Prometheus comes, and does not count in between.
var (
	lookMinions = gauges.Gauge("salt_master_connected_minions", "Connections to the publish port, whoever made "+
		"them.")
	lookQueue       = gauges.Gauge("salt_master_workers_queue_depth", "Requests waiting for a worker.", "pool")
	lookKeys        = gauges.Gauge("brine_master_keys", "Keys of minions by state.", "state")
	lookSubscribers = gauges.Gauge("brine_bus_subscribers", "Connections to the event bus from outside the process.")
	lookDropped     = gauges.Counter("brine_bus_dropped_events_total", "Events that subscribers did not get because "+
		"they read too slowly.")
	lookStored = gauges.Gauge("brine_store_content_bytes", "Size of all jobs and returns in the job store.")
	lookFile   = gauges.Gauge("brine_store_file_bytes", "Size of the file of the job store.")
)

// Sources are what the meter looks at when Prometheus comes.
type Sources struct {
	Peers *ledger.Peers
	Keys  *keys.Store
	// ended counts connections of strangers, and of minions, that were ended at the ports, and those that were refused
	Ended func() (strangers, known, refused uint64)
	Store any // of jobs; its size is told if it is one file
}

// looks is what Prometheus is told of when it comes.
type looks struct {
	meter *Meter
	Sources
}

// Look registers what is not counted but looked at.
func (m *Meter) Look(reg prometheus.Registerer, at Sources) error {
	if m == nil {
		return nil
	}
	l := looks{m, at}
	if err := reg.Register(gauges.Look(l.tellGauges, lookMinions, lookQueue, lookKeys, lookSubscribers, lookDropped,
		lookStored, lookFile, lookEnded, lookRefused)); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

// tellGauges tells what there is. What cannot be read is left out.
func (l looks) tellGauges(tell gauges.Tell) {
	tell(lookMinions, float64(l.Peers.Connections()))
	strangers, known, refused := l.Ended()
	tell(lookEnded, float64(strangers), "stranger")
	tell(lookEnded, float64(known), "known")
	tell(lookRefused, float64(refused))
	for i := range l.meter.queued {
		tell(lookQueue, float64(l.meter.queued[i].Load()), l.meter.pools[i])
	}
	for _, st := range []keys.Status{keys.Accepted, keys.Pending, keys.Rejected, keys.Denied} {
		if ids, err := l.Keys.IDs(st); err == nil {
			tell(lookKeys, float64(len(ids)), st.State())
		}
	}
	if b := l.meter.bus.Load(); b != nil {
		n, dropped := b.Listeners()
		tell(lookSubscribers, float64(n))
		tell(lookDropped, float64(dropped))
	}
	if s, ok := l.Store.(sized); ok {
		if n, err := s.Bytes(); err == nil {
			tell(lookStored, float64(n))
		}
		if info, err := os.Stat(s.Path()); err == nil {
			tell(lookFile, float64(info.Size()))
		}
	}
}

// sized is a job store that is one file.
type sized interface {
	Bytes() (int64, error)
	Path() string
}

// lookEnded counts connections that were ended because too much was held of them.
var lookEnded = gauges.Counter("brine_master_connections_ended_total", "Connections that were ended because too "+
	"much memory was held of them.", "peer")

// lookRefused counts connections that were not let in.
var lookRefused = gauges.Counter("brine_master_connections_refused_total",
	"Connections that ended before a handshake, those of peers that do not speak ZMTP 3 among them.")
