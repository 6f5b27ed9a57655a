package master

import (
	"fmt"
	"os"

	"brine/modules/keys"

	"github.com/prometheus/client_golang/prometheus"
)

// measure makes the counters of the master, where somebody wants them.
func (c *core) measure(opt Options) (err error) {
	if opt.Metrics == nil {
		return nil
	}
	if c.meter, err = newMeter(opt.Metrics, opt.Config.MetricsOptions(), opt.Functions, c.pools); err != nil {
		return err
	}
	if err := opt.Metrics.Register(&look{c}); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

// look is what the master is asked for when Prometheus comes, and not counted in between.
type look struct{ c *core }

func lookDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	descMinions     = lookDesc("salt_master_connected_minions", "Minions connected to the publish port.")
	descQueue       = lookDesc("salt_master_workers_queue_depth", "Requests waiting for a worker.", "pool")
	descKeys        = lookDesc("brine_master_keys", "Keys of minions by state.", "state")
	descSubscribers = lookDesc("brine_bus_subscribers", "Connections to the event bus from outside the process.")
	descDropped     = lookDesc("brine_bus_dropped_events_total", "Events that subscribers did not get because they read too slowly.")
	descStored      = lookDesc("brine_store_content_bytes", "Size of all jobs and returns in the job store.")
	descFile        = lookDesc("brine_store_file_bytes", "Size of the file of the job store.")
)

// Describe tells what there can be.
func (*look) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descMinions, descQueue, descKeys, descSubscribers, descDropped, descStored, descFile} {
		to <- d
	}
}

// Collect tells what there is. What cannot be read is left out.
func (l *look) Collect(to chan<- prometheus.Metric) {
	c := l.c
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(descMinions, float64(c.book.Peers.Subscribers()))
	for i := range c.meter.queued {
		gauge(descQueue, float64(c.meter.queued[i].Load()), c.poolName(i))
	}
	for _, st := range []keys.Status{keys.Accepted, keys.Pending, keys.Rejected, keys.Denied} {
		if ids, err := c.keys.IDs(st); err == nil {
			gauge(descKeys, float64(len(ids)), st.State())
		}
	}
	if b := c.meter.bus.Load(); b != nil {
		n, dropped := b.Listeners()
		gauge(descSubscribers, float64(n))
		to <- prometheus.MustNewConstMetric(descDropped, prometheus.CounterValue, float64(dropped))
	}
	if s, ok := c.store.(sized); ok {
		if n, err := s.Bytes(); err == nil {
			gauge(descStored, float64(n))
		}
		if info, err := os.Stat(s.Path()); err == nil {
			gauge(descFile, float64(info.Size()))
		}
	}
}

// sized is a job store that is one file.
type sized interface {
	Bytes() (int64, error)
	Path() string
}
