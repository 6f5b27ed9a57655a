package minion

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
)

// gathered is what a registry tells: NAME{LABEL=VALUE,...} to a value, or to the number of observations.
func gathered(t testing.TB, reg prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	var text bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
			t.Fatal(err)
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			slices.Sort(labels)
			got[f.GetName()+"{"+strings.Join(labels, ",")+"}"] = float64(m.GetHistogram().GetSampleCount()) +
				m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	problems, err := promlint.New(&text).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	return got
}

func TestMetrics(t *testing.T) {
	r := newRig(t, "")
	reg := prometheus.NewRegistry()
	r.opt.Metrics = reg
	r.up()
	r.run("20240517120000000001", "test.echo", "x")
	r.run("20240517120000000002", "test.false")
	r.run("20240517120000000003", "no.such_function")
	limit := time.Now().Add(patience)
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		err := compare(gathered(t, reg), map[string]float64{
			"brine_minion_jobs_total{fun=test.echo,outcome=done}":                   1,
			"brine_minion_jobs_total{fun=test.false,outcome=done}":                  1,
			"brine_minion_jobs_total{fun=other,outcome=failed}":                     1,
			"salt_minion_exec_duration_seconds{fun=test.echo}":                      1,
			"brine_minion_sign_ins_total{master=master.test_4506,result=success}":   1,
			"brine_minion_connections_total{master=master.test_4506}":               1,
			"brine_minion_return_attempts_total{master=master.test_4506,result=ok}": 3,
			"brine_minion_returns_dropped_total{master=master.test_4506}":           0,
			"brine_minion_jobs_running{}":                                           0,
			"brine_minion_jobs_queued{}":                                            0,
			"brine_minion_master_connected{master=master.test_4506}":                1,
			"brine_minion_returns_waiting{master=master.test_4506}":                 0,
			"brine_minion_spool_bytes{master=master.test_4506}":                     0,
		})
		if err == nil {
			break
		}
		if time.Now().After(limit) {
			t.Fatal(err)
		}
		<-again.C
	}
}

func compare(got, want map[string]float64) error {
	for name, n := range want {
		if v, ok := got[name]; !ok || v != n {
			return fmt.Errorf("%s: got %v (%v), want %v in %v", name, v, ok, n, slices.Sorted(maps.Keys(got)))
		}
	}
	return nil
}
