package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMetricsOptions(t *testing.T) {
	standard := Metrics{Exporter: ExporterOTLPHTTP, Host: "127.0.0.1", Port: 9464, Boundaries: map[string][]float64{}}
	for _, tt := range []struct {
		name, text string
		change     func(*Metrics)
	}{
		{"on", "metrics: {enabled: True, exporter: prometheus}", func(m *Metrics) {
			m.Enabled, m.Exporter = true, ExporterPrometheus
		}},
		{"listener", "metrics:\n  enabled: yes\n  prometheus: {host: '::1', port: 9100}\n", func(m *Metrics) {
			m.Enabled, m.Host, m.Port = true, "::1", 9100
		}},
		{"nonsense", "metrics: {prometheus: {host: '', port: 99999}, histogram_boundaries: {a: [3, 2], b: [x], c: 1}}",
			func(*Metrics) {}},
		{"null", "metrics:\n", func(*Metrics) {}},
		{"boundaries", "metrics: {histogram_boundaries: {salt.job.duration: [1, 2.5, 1000]}}",
			func(m *Metrics) { m.Boundaries["salt.job.duration"] = []float64{0.001, 0.0025, 1} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := standard
			want.Boundaries = map[string][]float64{}
			tt.change(&want)
			if diff := cmp.Diff(want, loadMaster(t, "master", tt.text).MetricsOptions()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	m := loadMaster(t, "master", "metrics: {prometheus: {port: 99999}, "+
		"histogram_boundaries: {a: [3, 2], b: [1, x], c: 1, d: [], e: [1, 2]}}")
	var told []string
	for _, n := range m.Notices {
		if strings.Contains(n.Text, "'metrics'") {
			told = append(told, n.Text)
		}
	}
	for i, word := range []string{"boundaries of a are [3, 2]", "of b are [1, 'x']", "of c are 1", "prometheus is 99999"} {
		if i >= len(told) || !strings.Contains(told[i], word) || !strings.Contains(told[i], "line 1") {
			t.Errorf("warnings %q have no %q at its place", told, word)
		}
	}
	if len(told) != 4 {
		t.Errorf("%d warnings: %q", len(told), told)
	}
	got := loadMinion(t, "minion", "").MetricsOptions()
	if got.Enabled || got.Port != 9464 || len(got.Boundaries["salt.minion.exec.duration"]) != 12 {
		t.Errorf("without a word in the file: got %+v", got)
	}
}

func TestTracingOptions(t *testing.T) {
	standard := Tracing{Exporter: ExporterOTLPHTTP, Sampler: "parent_based", SamplerArg: 1}
	for _, tt := range []struct {
		name, text string
		want       Tracing
	}{
		{"off", "", standard},
		{"on", "tracing: {enabled: True}", Tracing{Enabled: true, Exporter: ExporterOTLPHTTP, Sampler: "parent_based",
			SamplerArg: 1}},
		{"all", "tracing: {enabled: True, exporter: console, endpoint: 'http://c:4318/v1/traces', service_name: s, " +
			"sampler: trace_id_ratio, sampler_arg: 0.25}",
			Tracing{Enabled: true, Exporter: "console", Endpoint: "http://c:4318/v1/traces", ServiceName: "s",
				Sampler: "trace_id_ratio", SamplerArg: 0.25}},
		{"nonsense", "tracing: {enabled: '', sampler_arg: x, headers: 3}", standard},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := loadMaster(t, "master", tt.text).TracingOptions()
			got.Resource, got.Headers = nil, nil
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	got := loadMaster(t, "master",
		"tracing: {headers: {authorization: a}, resource_attributes: {site: b}}").TracingOptions()
	if got.Headers.Str("authorization") != "a" || got.Resource.Str("site") != "b" {
		t.Errorf("got %v, %v", got.Headers, got.Resource)
	}
}
