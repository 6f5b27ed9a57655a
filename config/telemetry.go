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

// Metrics is the option metrics as it is used. A mapping in the file takes the place of Salt's default as a whole;
// what it does not name has the value that Salt's code falls back on (salt/utils/metrics.py, 3008).
type Metrics struct {
	Enabled  bool
	Exporter string
	Host     string // of the listener of the exporter prometheus
	Port     int
	// Boundaries are the upper bounds of histogram buckets in seconds, by Salt's name of the instrument. Files have
	// milliseconds.
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

// rising takes the numbers of a list as long as each is greater than the one before.
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

// Tracing is the option tracing as it is used (salt/utils/tracing.py, 3008).
type Tracing struct {
	Enabled     bool
	Exporter    string
	Endpoint    string // "": what the environment says, else the collector on this machine
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

// textOr is a text of a mapping, or std where it is missing or empty.
func textOr(m *payload.Map, key, std string) string {
	if s := m.Str(key); s != "" {
		return s
	}
	return std
}
