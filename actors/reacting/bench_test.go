package reacting

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"brine/modules/reactor/backlog"
	"brine/wire/payload"
)

// BenchmarkReactor measures the whole way of events through fifty rules: bus, backlog, rendering, and a job for
// each. The jobs are not published.
func BenchmarkReactor(b *testing.B) {
	r := newRig(b)
	r.do.order = make(chan string, b.N+100)
	rules := []any{payload.M("ev/*", r.dir+"/a.sls")}
	for i := range 49 {
		rules = append(rules, payload.M(fmt.Sprintf("*/%d/*", i), r.dir+"/a.sls"))
	}
	opt := r.options(rules, map[string]string{"a.sls": "job:\n  local.test.arg:\n    - tgt: {{ data['id'] }}\n    - " +
		"arg: [{{ tag }}]\n"})
	opt.Limits = backlog.Limits{Events: b.N + 1, Bytes: 1 << 40}
	r.start(opt)
	body := pack(b, "ev/x", "id", "web1", "data", payload.M("x", "y"))
	b.ReportAllocs()
	began := used(b)
	b.ResetTimer()
	for range b.N {
		for r.mailed.Load() > maxMailed/2 {
			<-r.do.order // the ReactorKeeper is late
		}
		r.sink("ev/x", body)
	}
	r.settled()
	b.StopTimer()
	r.stop()
	if s := r.Show(); s.Dropped > 0 || s.Calls != int64(b.N) || s.Failures > 0 {
		b.Fatalf("got %+v", s)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	// other processes use the machine, too
	b.ReportMetric(float64((used(b)-began).Microseconds())/float64(b.N), "cpu-µs/op")
}

// used is the processor time of this process so far.
func used(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkUnwanted measures the cost on the bus of an event that matches none of fifty rules.
func BenchmarkUnwanted(b *testing.B) {
	r := newRig(b)
	var rules []any
	for i := range 50 {
		rules = append(rules, payload.M(fmt.Sprintf([]string{"salt/job/*/ret/%d", "my/%d/*", "*/%d/end",
			"salt/minion/*/start%d"}[i%4], i), "x"))
	}
	r.start(r.options(rules, nil))
	body := pack(b, "salt/job/20261120104829281452/ret/web1", "id", "web1")
	b.ReportAllocs()
	began := used(b)
	for b.Loop() {
		r.sink("salt/job/20261120104829281452/ret/web1", body)
	}
	b.ReportMetric(float64((used(b)-began).Nanoseconds())/float64(b.N), "cpu-ns/op")
	r.stop()
}
