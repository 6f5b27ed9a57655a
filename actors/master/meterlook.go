package master

import (
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

// looks is what Prometheus is told of when it comes.
type looks struct {
	meter *meter
	peers *ledger.Peers
	ports *ports
	keys  *keys.Store
	store jobCache
	pools *pools
}

func (l looks) gauges() prometheus.Collector {
	return gauges.Look(l.tellGauges, lookMinions, lookQueue, lookKeys, lookSubscribers, lookDropped, lookStored,
		lookFile, lookEnded, lookRefused)
}

// tellGauges tells what there is. What cannot be read is left out.
func (l looks) tellGauges(tell gauges.Tell) {
	tell(lookMinions, float64(l.peers.Connections()))
	l.ports.tellEnded(tell)
	for i := range l.meter.queued {
		tell(lookQueue, float64(l.meter.queued[i].Load()), l.pools.name(i))
	}
	for _, st := range []keys.Status{keys.Accepted, keys.Pending, keys.Rejected, keys.Denied} {
		if ids, err := l.keys.IDs(st); err == nil {
			tell(lookKeys, float64(len(ids)), st.State())
		}
	}
	if b := l.meter.bus.Load(); b != nil {
		n, dropped := b.Listeners()
		tell(lookSubscribers, float64(n))
		tell(lookDropped, float64(dropped))
	}
	if s, ok := l.store.(sized); ok {
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
