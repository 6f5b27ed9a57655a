// Package gauges is a collector for Prometheus of numbers that nobody counts: they are read when they are asked for. It
// is what the collectors of master and minion have in common; what they show they declare themselves. It serves nothing
// and has no metrics of its own (see actors/metrics). Salt has nothing like it.
package gauges

import "github.com/prometheus/client_golang/prometheus"

// Value is one number, or one for each combination of labels.
type Value struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// Gauge is a number that goes up and down.
func Gauge(name, help string, labels ...string) Value {
	return Value{prometheus.NewDesc(name, help, labels, nil), prometheus.GaugeValue}
}

// Counter is a number that only grows.
func Counter(name, help string, labels ...string) Value {
	return Value{prometheus.NewDesc(name, help, labels, nil), prometheus.CounterValue}
}

// Tell gives a number and the values of its labels, as many as it was declared with.
type Tell func(v Value, n float64, labels ...string)

// Look makes a collector of some values. read tells what there is each time somebody asks; what it cannot read it
// leaves out. It must be safe for concurrent use.
func Look(read func(Tell), values ...Value) prometheus.Collector { return &look{read, values} }

type look struct {
	read   func(Tell)
	values []Value
}

// Describe tells what there can be.
func (l *look) Describe(to chan<- *prometheus.Desc) {
	for _, v := range l.values {
		to <- v.desc
	}
}

// Collect tells what there is.
func (l *look) Collect(to chan<- prometheus.Metric) {
	l.read(func(v Value, n float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(v.desc, v.kind, n, labels...)
	})
}
