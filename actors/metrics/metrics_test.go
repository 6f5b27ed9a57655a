package metrics

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/loopback"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// rig is a daemon with a worker, two jobs and a listener.
type rig struct {
	set    *Set
	tree   *supervisor.Supervisor
	worker *supervisor.Ref
	probe  *actortest.Probe // the worker
	log    *actortest.Log
	url    string
}

// patience bounds the waits of a test.
const patience = time.Minute

type hello struct{}

func newSet(t *testing.T) *Set {
	t.Helper()
	set, err := NewSet(SetOptions{Daemon: "minion", Program: "1.2.3", Version: "3008.3", Groups: []string{"Jobs/Job-"}})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigOn(t, 0)
}

// newRigOn makes a rig whose listener has a port, or any free port for 0.
func newRigOn(t *testing.T, port int) *rig {
	t.Helper()
	r := &rig{set: newSet(t), log: actortest.NewLog(), probe: actortest.NewProbe()}
	r.tree = actortest.Start(t, supervisor.Options{Name: "minion", Chaos: true, Logger: r.log.Logger(),
		OnDeath: r.set.OnDeath})
	r.set.Watch(r.tree)
	r.worker = actortest.Add(t, r.tree, supervisor.Spec{Name: "Worker", New: r.probe.New})
	jobs, err := r.tree.AddTree("Jobs", supervisor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, jid := range []string{"20240517120000000001", "20240517120000000002"} {
		actortest.Add(t, jobs, supervisor.Spec{Name: "Job-" + jid, New: actortest.NewProbe().New})
	}
	actortest.Add(t, r.tree, Listener(ListenerOptions{Host: "127.0.0.1", Port: port, Set: r.set,
		Logger: r.log.Logger()}))
	r.url = "http://" + r.bound(t, 1) + "/"
	return r
}

// bound waits for the n-th log line with the address, and returns the address.
func (r *rig) bound(t *testing.T, n int) string {
	t.Helper()
	const text = "INFO Prometheus /metrics listener bound on "
	r.log.Await(t, text)
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for limit := time.Now().Add(patience); time.Now().Before(limit); <-again.C {
		var found []string
		for _, line := range r.log.Lines() {
			if addr, ok := strings.CutPrefix(line, text); ok {
				found = append(found, addr)
			}
		}
		if len(found) >= n {
			return found[n-1]
		}
	}
	t.Fatalf("the listener was not bound %d times", n)
	return ""
}

func (r *rig) get(t *testing.T, path string) (int, []byte) {
	t.Helper()
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(r.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, body
}

// families is the result of one scrape.
type families map[string]*dto.MetricFamily

func (r *rig) scrape(t *testing.T) families {
	t.Helper()
	code, body := r.get(t, "metrics")
	if code != http.StatusOK {
		t.Fatalf("got %d: %s", code, body)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	got, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// find returns the metric with these labels, given as "name=value", or nil.
func (f families) find(name string, labels ...string) *dto.Metric {
	for _, m := range f[name].GetMetric() {
		have := map[string]bool{}
		for _, l := range m.GetLabel() {
			have[l.GetName()+"="+l.GetValue()] = true
		}
		all := len(have) == len(labels)
		for _, l := range labels {
			all = all && have[l]
		}
		if all {
			return m
		}
	}
	return nil
}

func (f families) value(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	m := f.find(name, labels...)
	if m == nil {
		t.Fatalf("there is no %s%v in %v", name, labels, f[name])
	}
	return m.GetGauge().GetValue() + m.GetCounter().GetValue()
}

func TestScrape(t *testing.T) {
	r := newRig(t)
	for range 2 {
		r.worker.Send(&hello{})
		actortest.Expect[*hello](t, r.probe)
	}
	got := r.scrape(t) // the first message is counted, and the second one may be
	for _, tt := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"brine_actors", []string{"actor=Worker", "state=running"}, 1},
		{"brine_actors", []string{"actor=Jobs/Job", "state=running"}, 2},
		{"brine_actor_restarts_total", []string{"actor=Worker"}, 0},
		{"brine_actor_mailbox_messages", []string{"actor=Jobs/Job"}, 0},
		{"brine_actor_messages_received_total", []string{"actor=Worker"}, 2},
		{"brine_dead_letters_total", []string{"kind=crashed"}, 0}, {"brine_dead_letters_total", []string{"kind=nobody"},
			0},
	} {
		if v := got.value(t, tt.name, tt.labels...); v != tt.want {
			t.Errorf("%s%v: got %v, want %v", tt.name, tt.labels, v, tt.want)
		}
	}
	for _, name := range []string{"brine_actor_handling_seconds", "brine_actor_waiting_seconds"} {
		if h := got.find(name, "actor=Worker").GetHistogram(); h.GetSampleCount() < 1 || len(h.GetBucket()) != 11 {
			t.Errorf("%s: got %v", name, h)
		}
	}
	for _, name := range []string{"go_goroutines", "process_resident_memory_bytes", "brine_build_info"} {
		if got[name] == nil {
			t.Errorf("there is no %s", name)
		}
	}
	if got.find("brine_build_info", "version=1.2.3", "salt_version=3008.3", "daemon=minion",
		"goversion="+runtime.Version()) == nil {
		t.Errorf("what runs: %v", got["brine_build_info"])
	}
	for _, how := range []string{diedExit, diedPanic, diedAbandoned} {
		if got.find("brine_actor_deaths_total", "actor=Worker", "how="+how) == nil {
			t.Errorf("deaths by %s do not begin at 0", how)
		}
	}
	if m := got.find("brine_actors", "actor=Worker", "state=backoff"); m != nil {
		t.Errorf("a state that nobody is in: %v", m)
	}
	if m := got.find("brine_actor_handling_seconds", "actor=Jobs"); m != nil {
		t.Errorf("a histogram of no message: %v", m)
	}
	if m := got.find("brine_actor_restarts_total", "actor=Jobs/Job"); m != nil {
		t.Errorf("a counter of children that come and go: %v", m)
	}
}

// TestConventions checks everything with the linter of Prometheus, which promtool uses.
func TestConventions(t *testing.T) {
	r := newRig(t)
	r.set.OnDeath(stats.Death{Path: "minion/Worker", Status: 1})
	_, body := r.get(t, "metrics")
	problems, err := promlint.New(bytes.NewReader(body)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestDeathsAreCounted(t *testing.T) {
	r := newRig(t)
	if err := r.tree.Inject("Worker", supervisor.FaultPanic); err != nil {
		t.Fatal(err)
	}
	r.log.Await(t, "with pid Worker#2")
	got := r.scrape(t)
	if v := got.value(t, "brine_actor_deaths_total", "actor=Worker", "how=panic"); v != 1 {
		t.Errorf("got %v deaths", v)
	}
	if v := got.value(t, "brine_actor_restarts_total", "actor=Worker"); v != 1 {
		t.Errorf("got %v restarts", v)
	}
	r.set.OnDeath(stats.Death{Path: "minion/Worker", Status: -9})
	r.set.OnDeath(stats.Death{Path: "minion/Jobs/Job-x"})
	got = r.scrape(t)
	for _, labels := range [][]string{{"actor=Worker", "how=abandoned"}, {"actor=Jobs/Job", "how=exit"}} {
		if v := got.value(t, "brine_actor_deaths_total", labels...); v != 1 {
			t.Errorf("%v: got %v", labels, v)
		}
	}
}

// TestRestart: the listener opens its port again after its death. Its connections end with the daemon.
func TestRestart(t *testing.T) {
	r := newRig(t)
	for n := 2; n < 5; n++ {
		if err := r.tree.Inject("Metrics", supervisor.FaultPanic); err != nil {
			t.Fatal(err)
		}
		r.url = "http://" + r.bound(t, n) + "/"
		if v := r.scrape(t).value(t, "brine_actor_restarts_total", "actor=Metrics"); v != float64(n-1) {
			t.Errorf("got %v restarts, want %d", v, n-1)
		}
	}
	if report := r.tree.Stop(patience); len(report.Abandoned) > 0 {
		t.Errorf("abandoned: %v", report.Abandoned)
	}
	if res, err := http.Get(r.url + "metrics"); err == nil {
		res.Body.Close()
		t.Error("the port is open after the stop")
	}
}

// TestTakenPort: the listener tries a used port again until it is free.
func TestTakenPort(t *testing.T) {
	port, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	defer port.Release()
	first := newRigOn(t, port.Number)
	second := &rig{set: newSet(t), log: actortest.NewLog()}
	second.tree = actortest.Start(t, supervisor.Options{Name: "minion", Logger: second.log.Logger(),
		RestartDelayMax: 10 * time.Millisecond})
	if _, err := second.tree.Add(Listener(ListenerOptions{Host: "127.0.0.1", Port: port.Number, Set: second.set,
		Logger: second.log.Logger()})); err != nil {
		t.Fatal(err)
	}
	second.log.Await(t, "died with exit status 1")
	first.tree.Stop(patience)
	if got := second.bound(t, 1); got != fmt.Sprintf("127.0.0.1:%d", port.Number) {
		t.Errorf("bound on %s, want port %d", got, port.Number)
	}
}

func TestOtherPaths(t *testing.T) {
	r := newRig(t)
	if code, body := r.get(t, ""); code != http.StatusOK || !bytes.Contains(body, []byte("/metrics")) {
		t.Errorf("got %d: %s", code, body)
	}
	if code, _ := r.get(t, "debug/pprof/"); code != http.StatusNotFound {
		t.Errorf("got %d for a path that is not there", code)
	}
}

// TestLabelsAreBounded: the number of labels stays small for any number of names.
func TestLabelsAreBounded(t *testing.T) {
	l := &labels{groups: []string{"Jobs/Job-"}}
	seen := map[string]bool{}
	for i := range 10 * maxActors {
		label, shared := l.of(fmt.Sprintf("Job-%d", i))
		seen[label] = true
		if shared != (label == other) {
			t.Fatalf("%s: shared %v", label, shared)
		}
		if label, shared := l.of(fmt.Sprintf("Jobs/Job-%d", i)); label != "Jobs/Job" || !shared {
			t.Fatalf("got %q, %v", label, shared)
		}
	}
	if len(seen) != maxActors+1 {
		t.Errorf("got %d labels, want %d", len(seen), maxActors+1)
	}
	if label, shared := l.of("Job-3"); label != "Job-3" || shared {
		t.Errorf("a known label became %q", label)
	}
}

func TestHistogram(t *testing.T) {
	for _, tt := range []struct {
		name    string
		buckets []uint64
		want    map[float64]uint64
	}{
		{"nothing", nil, map[float64]uint64{1.024e-6: 0, 137.438953472: 0}},
		{"below 512 ns and 1024 ns", []uint64{2, 1}, map[float64]uint64{1.024e-6: 3, 8.192e-6: 3, 137.438953472: 3}},
		{"below 2 us and 4 us", []uint64{0, 0, 4, 5}, map[float64]uint64{1.024e-6: 0, 8.192e-6: 9, 6.5536e-5: 9}},
		{"too long for every bound", []uint64{31: 7}, map[float64]uint64{1.024e-6: 0, 137.438953472: 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var n uint64
			for _, c := range tt.buckets {
				n += c
			}
			var m dto.Metric
			if err := histogram(descHandling, stats.Spread{Count: n, SumUS: 2e6, Buckets: tt.buckets},
				"a").Write(&m); err != nil {
				t.Fatal(err)
			}
			h := m.GetHistogram()
			if h.GetSampleCount() != n || h.GetSampleSum() != 2 {
				t.Errorf("got %d in %v s", h.GetSampleCount(), h.GetSampleSum())
			}
			got := map[float64]uint64{}
			for _, b := range h.GetBucket() {
				got[b.GetUpperBound()] = b.GetCumulativeCount()
			}
			for bound, want := range tt.want {
				if v, ok := got[bound]; !ok || v != want {
					t.Errorf("%v: got %d (%v), want %d in %v", bound, v, ok, want, got)
				}
			}
		})
	}
}

func BenchmarkCollect(b *testing.B) {
	set, err := NewSet(SetOptions{})
	if err != nil {
		b.Fatal(err)
	}
	tree := actortest.Start(b, supervisor.Options{Name: "master"})
	for i := range 20 {
		actortest.Add(b, tree, supervisor.Spec{Name: fmt.Sprintf("MWorker-%d", i), New: actortest.NewProbe().New})
	}
	set.Watch(tree)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := set.reg.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}
