package config

import (
	"brine/wire/payload"
	"brine/wire/python"
)

// Exporters of metrics and traces, by Salt's names.
const (
	ExporterOTLPHTTP   = "otlp-http"
	ExporterPrometheus = "prometheus"
)

// Metrics is the option metrics. A mapping in the file replaces Salt's whole default. A missing key has the fallback
// value of Salt's code (salt/utils/metrics.py, 3008).
type Metrics struct {
	Enabled  bool
	Exporter string
	Host     string // of the listener of the exporter prometheus
	Port     int
	// Boundaries are the upper bounds of histogram buckets in seconds, by Salt's name of the instrument. In files they
	// are in milliseconds.
	Boundaries map[string][]float64
}

// MetricsOptions reads the option metrics.
func (c *Common) MetricsOptions() Metrics {
	listener := c.Metrics.Map("prometheus")
	m := Metrics{
		Enabled:    python.Truth(c.Metrics.Value("enabled")),
		Exporter:   textOr(c.Metrics, "exporter", ExporterOTLPHTTP),
		Host:       textOr(listener, "host", "127.0.0.1"),
		Port:       9464,
		Boundaries: map[string][]float64{},
	}
	if n, ok := listener.Int("port"); ok && n >= 0 && n < 1<<16 {
		m.Port = int(n)
	}
	for name, v := range c.Metrics.Map("histogram_boundaries").All() {
		list, _ := v.([]any)
		if bounds := rising(list, 1e-3); len(bounds) > 0 {
			m.Boundaries[python.Str(name)] = bounds
		}
	}
	return m
}

// checkMetrics warns of parts of the option metrics that have no effect. Unlike Salt: its OpenTelemetry fails later.
func (ld *loading) checkMetrics() {
	m, _ := ld.layers.value("metrics").(*payload.Map)
	for name, v := range m.Map("histogram_boundaries").All() {
		list, isList := v.([]any)
		if len(list) > 0 && rising(list, 1) != nil || isList && len(list) == 0 {
			continue
		}
		ld.warn("Config option 'metrics': the histogram_boundaries of %s are %s, which is no list of rising "+
			"numbers; brine's "+
			"own hold (%s)", python.Str(name), python.Str(v), ld.layers.origin("metrics"))
	}
	v := m.Map("prometheus").Value("port")
	if n, ok := v.(int64); v != nil && (!ok || n < 0 || n >= 1<<16) {
		ld.warn("Config option 'metrics': the port of prometheus is %s, which is no port; 9464 holds (%s)",
			python.Str(v),
			ld.layers.origin("metrics"))
	}
}

// rising returns the numbers of a list, multiplied by factor. It returns nil if a member is not a number, or not
// greater than the one before.
func rising(list []any, factor float64) (out []float64) {
	for _, v := range list {
		n, ok := python.Number(v)
		if !ok || len(out) > 0 && n*factor <= out[len(out)-1] {
			return nil
		}
		out = append(out, n*factor)
	}
	return out
}

// Tracing is the option tracing (salt/utils/tracing.py, 3008).
type Tracing struct {
	Enabled     bool
	Exporter    string
	Endpoint    string // "": from the environment, else the collector on this machine
	ServiceName string // "": salt-master, or salt-minion-ID
	Sampler     string // parent_based, always_on, always_off or trace_id_ratio
	SamplerArg  float64
	Resource    *payload.Map // attributes of the resource
	Headers     *payload.Map // of each request
}

// TracingOptions reads the option tracing.
func (c *Common) TracingOptions() Tracing {
	t := Tracing{
		Enabled:     python.Truth(c.Tracing.Value("enabled")),
		Exporter:    textOr(c.Tracing, "exporter", ExporterOTLPHTTP),
		Endpoint:    c.Tracing.Str("endpoint"),
		ServiceName: c.Tracing.Str("service_name"),
		Sampler:     textOr(c.Tracing, "sampler", "parent_based"),
		SamplerArg:  1,
		Resource:    c.Tracing.Map("resource_attributes"),
		Headers:     c.Tracing.Map("headers"),
	}
	if n, ok := python.Number(c.Tracing.Value("sampler_arg")); ok {
		t.SamplerArg = n
	}
	return t
}

// textOr is a text in a mapping, or std if it is missing or empty.
func textOr(m *payload.Map, key, std string) string {
	if s := m.Str(key); s != "" {
		return s
	}
	return std
}
