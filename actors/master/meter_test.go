package master

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/actors/master/meter"
	"brine/actors/master/workers"
	"brine/config"
	"brine/wire/auth"
	"brine/wire/payload"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
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
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			slices.Sort(labels)
			got[f.GetName()+"{"+strings.Join(labels, ",")+"}"] = valueOf(m)
		}
	}
	return got
}

func valueOf(m *dto.Metric) float64 {
	if h := m.GetHistogram(); h != nil {
		return float64(h.GetSampleCount())
	}
	return m.GetCounter().GetValue() + m.GetGauge().GetValue()
}

func TestMetrics(t *testing.T) {
	r := newSite(t)
	reg := prometheus.NewRegistry()
	r.metrics = reg
	r.start()
	m1 := r.minion("m1")
	if step := r.newMinion("new").signIn(); step.Verdict != auth.Pending {
		t.Fatalf("sign-in: %+v", step)
	}
	jid := r.publish(payload.M("tgt", "m1"))
	m1.ask(payload.M("cmd", "_return", "id", "m1", "jid", jid, "fun", "test.ping", "return", true, "retcode", 0,
		"success", true))
	other := r.publish(payload.M("tgt", "m1", "fun", []any{"test.ping", "test.echo"}, "arg", []any{[]any{}, []any{}}))
	m1.ask(payload.M("cmd", "_return", "id", "m1", "jid", other, "fun", "a.b\"c", "return", true, "retcode", 1,
		"success", false))
	m1.ask(payload.M("cmd", "_return", "id", "m1", "jid", "20200101000000000000", "fun", "test.ping", "return", true,
		"retcode", 0))
	m1.ask(payload.M("cmd", "never_heard", "id", "m1"))
	r.send([]byte("\xc1"))
	r.eventually("the counters", func() error {
		got := gathered(t, reg)
		for name, want := range map[string]float64{
			"salt_jobs_published_total{fun=test.ping}":                  1,
			"salt_jobs_published_total{fun=other}":                      1,
			"salt_jobs_completed_total{fun=test.ping,success=true}":     2,
			"salt_jobs_completed_total{fun=other,success=false}":        1,
			"salt_job_duration_seconds{fun=test.ping}":                  1, // the third job is not known
			"salt_job_duration_seconds{fun=other}":                      1,
			"salt_auth_attempts_total{result=success}":                  1,
			"salt_auth_attempts_total{result=pending}":                  1,
			"salt_master_requests_handled_total{cmd=_auth,pool=auth}":   2,
			"salt_master_requests_handled_total{cmd=_return,pool=fast}": 3,
			"salt_master_requests_handled_total{cmd=publish,pool=fast}": 2,
			"salt_master_requests_handled_total{cmd=other,pool=fast}":   1,
			"salt_master_requests_duration_seconds{cmd=_return}":        3,
			"brine_master_request_wait_seconds{pool=auth}":              2,
			"brine_master_requests_failed_total{reason=malformed}":      1,
			"brine_master_requests_failed_total{reason=shed}":           0,
			"brine_master_answer_seconds{}":                             9,
			"salt_master_workers_queue_depth{pool=slow}":                0,
			"salt_master_connected_minions{}":                           0,
			"brine_master_keys{state=accepted}":                         1,
			"brine_master_keys{state=pending}":                          1,
			"brine_master_keys{state=denied}":                           0,
			"brine_bus_subscribers{}":                                   0,
			"brine_bus_dropped_events_total{}":                          0,
			"brine_store_commits_total{result=error}":                   0,
		} {
			if v, ok := got[name]; !ok || v != want {
				return fmt.Errorf("%s: got %v (%v), want %v in %v", name, v, ok, want, slices.Sorted(maps.Keys(got)))
			}
		}
		for _, name := range []string{"brine_store_commits_total{result=ok}", "brine_store_commit_seconds{}",
			"brine_store_commit_entries{}", "brine_store_content_bytes{}", "brine_store_file_bytes{}",
			"salt_events_fired_total{tag_prefix=job}", "salt_events_fired_total{tag_prefix=auth}"} {
			if got[name] == 0 {
				return fmt.Errorf("%s is 0", name)
			}
		}
		return nil
	})
	lint(t, reg)
}

// lint lets Prometheus' own linter look at everything.
func lint(t *testing.T, reg prometheus.Gatherer) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
			t.Fatal(err)
		}
	}
	problems, err := promlint.New(&text).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestSubscribersAreShown: who listens on the bus, and who is connected to the publish port.
func TestSubscribersAreShown(t *testing.T) {
	r := newSite(t)
	reg := prometheus.NewRegistry()
	r.metrics = reg
	r.start()
	r.listen()
	r.eventually("the subscriber", func() error {
		if n := gathered(t, reg)["brine_bus_subscribers{}"]; n != 1 {
			return fmt.Errorf("got %v", n)
		}
		return nil
	})
}

func newTestMeter(t *testing.T, opt config.Metrics) (*meter.Meter, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewRegistry()
	m, err := meter.New(reg, meter.Options{Metrics: opt, Functions: []string{"test.ping"},
		Pools: []string{"fast"}, Command: workers.IsCommand})
	if err != nil {
		t.Fatal(err)
	}
	return m, reg
}

// TestLabelsAreBounded: whatever comes from outside, the number of series stays small.
func TestLabelsAreBounded(t *testing.T) {
	m, reg := newTestMeter(t, config.Metrics{})
	now := time.Now()
	for i := range 1000 {
		text := fmt.Sprintf("x%d", i)
		m.Job(payload.M("fun", text))
		m.Job(payload.M("fun", []any{text}))
		m.Ret(payload.NewReturn(payload.M("fun", text, "success", i%2 == 0)), 1, 2)
		m.SignIn(text)
		m.Request(text, "fast", now, now)
		m.Event([]byte(text + "\n\n"))
	}
	if n := len(gathered(t, reg)); n > 24 {
		t.Errorf("%d series: %v", n, slices.Sorted(maps.Keys(gathered(t, reg))))
	}
}

func TestBoundariesOfTheConfiguration(t *testing.T) {
	m, reg := newTestMeter(t, config.Metrics{Boundaries: map[string][]float64{"salt.job.duration": {1, 2}}})
	m.Ret(payload.NewReturn(payload.M("fun", "test.ping")), 1_000_000, 2_500_000)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "salt_job_duration_seconds" {
			continue
		}
		h := f.GetMetric()[0].GetHistogram()
		if b := h.GetBucket(); len(b) != 2 || b[0].GetCumulativeCount() != 0 || b[1].GetCumulativeCount() != 1 ||
			h.GetSampleSum() != 1.5 {
			t.Errorf("got %v", h)
		}
		return
	}
	t.Error("no histogram")
}

// TestNoMeter: without a registry everything is passed over.
func TestNoMeter(t *testing.T) {
	var m *meter.Meter
	now := time.Now()
	m.Job(payload.M("fun", "x"))
	m.Ret(payload.NewReturn(payload.M("fun", "x")), 1, 2)
	m.SignIn("accept")
	m.Event(nil)
	m.Request("x", "fast", now, now)
	m.Taken("fast", now, now)
	m.Fail(meter.FailedShed)
	m.Answered(now)
	m.Waiting(0, 1)
	m.Committed(1, now, errors.New("x"))
	m.Opened(nil)
}

func TestTwoMastersNeedTwoRegistries(t *testing.T) {
	_, reg := newTestMeter(t, config.Metrics{})
	if _, err := meter.New(reg, meter.Options{}); err == nil {
		t.Error("registered twice")
	}
}

// BenchmarkMeter is what one return costs when it is counted.
func BenchmarkMeter(b *testing.B) {
	m, err := meter.New(prometheus.NewRegistry(), meter.Options{Functions: []string{"test.ping"},
		Pools: []string{"fast"}, Command: workers.IsCommand})
	if err != nil {
		b.Fatal(err)
	}
	load, now, body := payload.M("fun", "test.ping", "success", true), time.Now(),
		[]byte("salt/job/20240517120000000001/ret/m1\n\nx")
	b.ReportAllocs()
	for b.Loop() {
		m.Taken("fast", now, now)
		m.Waiting(0, 1)
		m.Ret(payload.NewReturn(load), 1, 2)
		m.Event(body)
		m.Request(payload.CmdReturn, "fast", now, now)
		m.Answered(now)
	}
}
