package tracing

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/modules/fleet/ledger"
	"brine/wire/otlp"

	"github.com/google/go-cmp/cmp"
)

// testPlan is a plan whose resources are the names of the services.
func testPlan(reasons map[string]ledger.Reason, only ...string) tracePlan {
	return tracePlan{context: otlp.Parent{Trace: traceIDOf("testmaster", "j")}, reasons: reasons, only: only,
		about: func(service string) []otlp.Attr { return []otlp.Attr{{Key: "service.name", Value: service}} }}
}

// described are spans as text: service, name, parent, times in microseconds, what failed.
func described(rs []otlp.Resource) (out []string) {
	names := map[otlp.SpanID]string{}
	for _, r := range rs {
		for _, s := range r.Spans {
			names[s.ID] = s.Name
		}
	}
	for _, r := range rs {
		for _, s := range r.Spans {
			parent := names[s.Parent]
			if parent == "" && s.Parent != (otlp.SpanID{}) {
				parent = "outside"
			}
			line := fmt.Sprintf("%v: %s < %s %d-%d", r.Attrs[0].Value, s.Name, parent, s.Start.UnixMicro(),
				s.End.UnixMicro())
			if s.Failed {
				line += " failed: " + s.Message
			}
			out = append(out, line)
		}
	}
	return out
}

func TestSpansOf(t *testing.T) {
	job := ledger.Job{JID: "j", Fun: "test.ping", Request: 100, Work: 101, Matched: 102, Announced: 103, Sealed: 104,
		Sent: 105, Replied: 106, Stored: 107, Minions: []string{"a", "b", "c"}}
	told := job
	told.Client = &ledger.Client{Started: 90, Sent: 95, Replied: 108, Ended: 400,
		Seen: map[string]ledger.Stamp{"a": 210}}
	rows := map[string]*ledger.Row{
		"a": {ID: "a", Returned: 200, Fired: 201, Stored: 202, Minion: &ledger.Minion{Received: 10, Queued: 10,
			Started: 11, Ended: 12, Made: 13, Offset: 100, Outcome: ledger.Done}},
		"b": {ID: "b", Returned: 300, Fired: 301, Stored: 302, Retcode: 1}, // a minion of Salt
	}
	unsent := ledger.Job{JID: "j", Fun: "test.ping", Announced: 10, Failed: "cannot be sealed"}
	for _, tt := range []struct {
		name string
		s    *ledger.Snapshot
		plan tracePlan
		want []string
	}{
		{"a command line that tells", &ledger.Snapshot{Job: told, Rows: rows},
			testPlan(map[string]ledger.Reason{"c": {Code: "not_connected", Text: "c was not connected"}}), []string{
				"salt: salt.cli.test.ping <  90-400 failed: minions are silent",
				"salt: salt.req.send.publish < salt.cli.test.ping 95-108",
				"salt-master: salt.req.recv.publish < salt.req.send.publish 100-106",
				"salt-master: brine.request.wait < salt.req.recv.publish 100-101",
				"salt-master: brine.job.target < salt.req.recv.publish 101-102",
				"salt-master: salt.pub.send < salt.req.recv.publish 103-105",
				"salt-master: brine.job.save < salt.req.recv.publish 103-107",
				"salt-master: brine.minion.silent < salt.pub.send 105-400 failed: c was not connected",
				"salt-master: salt.req.recv._return < salt.req.send._return 200-202",
				"salt-master: salt.req.recv._return < salt.pub.send 300-302",
				"salt-minion-a: salt.minion.recv.test.ping < salt.pub.send 110-113",
				"salt-minion-a: brine.minion.queue < salt.minion.recv.test.ping 110-111",
				"salt-minion-a: salt.minion.exec.test.ping < salt.minion.recv.test.ping 111-112",
				"salt-minion-a: salt.req.send._return < salt.minion.recv.test.ping 113-202",
			}},
		{"a command line that tells nothing", &ledger.Snapshot{Job: job, Rows: map[string]*ledger.Row{"b": rows["b"]}},
			testPlan(nil), []string{
				"salt-master: salt.job.test.ping <  100-302",
				"salt-master: salt.req.recv.publish < salt.job.test.ping 100-106",
				"salt-master: brine.request.wait < salt.req.recv.publish 100-101",
				"salt-master: brine.job.target < salt.req.recv.publish 101-102",
				"salt-master: salt.pub.send < salt.req.recv.publish 103-105",
				"salt-master: brine.job.save < salt.req.recv.publish 103-107",
				"salt-master: salt.req.recv._return < salt.pub.send 300-302",
			}},
		{"who came late", &ledger.Snapshot{Job: told, Rows: rows}, testPlan(nil, "b"), []string{
			"salt-master: salt.req.recv._return < outside 300-302",
		}},
		{"a job that the master began and could not send", &ledger.Snapshot{Job: unsent}, testPlan(nil), []string{
			"salt-master: salt.job.test.ping <  10-10 failed: cannot be sealed",
			"salt-master: salt.pub.send < salt.job.test.ping 10-10 failed: cannot be sealed",
		}},
		{"nothing", &ledger.Snapshot{}, testPlan(nil), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, described(spansOf(tt.s, tt.plan))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSpansOfAFailure: a job that was killed, and a return that was not stored.
func TestSpansOfAFailure(t *testing.T) {
	s := &ledger.Snapshot{Job: ledger.Job{JID: "j", Fun: "f", Announced: 1}, Rows: map[string]*ledger.Row{
		"a": {ID: "a", Returned: 9, Lost: "the disk is full", Minion: &ledger.Minion{Received: 2, Started: 3, Ended: 4,
			Made: 5, Outcome: ledger.Killed, Detail: "signal 9"}},
		"b": {ID: "b", Returned: 9, Lost: ledger.NotKept},
	}}
	var failed []string
	for _, line := range described(spansOf(s, testPlan(nil))) {
		if strings.Contains(line, "failed") {
			failed = append(failed, line)
		}
	}
	want := []string{
		"salt-master: salt.req.recv._return < salt.req.send._return 9-9 failed: the disk is full",
		"salt-minion-a: salt.minion.exec.f < salt.minion.recv.f 3-4 failed: signal 9",
	}
	if diff := cmp.Diff(want, failed); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSpanIDs: they are the same each time, and no two spans of a job share one.
func TestSpanIDs(t *testing.T) {
	trace := traceIDOf("m", "j")
	if trace != traceIDOf("m", "j") || trace == traceIDOf("m2", "j") || trace == traceIDOf("m", "j2") {
		t.Error("ids of traces")
	}
	seen := map[otlp.SpanID]bool{}
	for _, name := range []string{"a", "b"} {
		for _, minion := range []string{"", "a", "b"} {
			seen[spanIDOf(trace, name, minion)] = true
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d ids, want 6", len(seen))
	}
}

func TestCut(t *testing.T) {
	spans := func(n int) []otlp.Span { return make([]otlp.Span, n) }
	rs := []otlp.Resource{{Spans: spans(2)}, {Spans: spans(5)}, {Spans: spans(1)}}
	var sizes []int
	for len(rs) > 0 {
		var first []otlp.Resource
		first, rs = cut(rs, 3)
		sizes = append(sizes, count(first))
	}
	if diff := cmp.Diff([]int{3, 3, 2}, sizes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// BenchmarkSpansOf is a job of 1000 minions.
func BenchmarkSpansOf(b *testing.B) {
	s := &ledger.Snapshot{Job: ledger.Job{JID: "j", Fun: "test.ping", Request: 100, Work: 101, Matched: 102,
		Announced: 103, Sealed: 104, Sent: 105}, Rows: map[string]*ledger.Row{}}
	for i := range 1000 {
		id := fmt.Sprintf("m%d", i)
		s.Rows[id] = &ledger.Row{ID: id, Returned: 200, Fired: 201, Stored: 202, Minion: &ledger.Minion{Received: 10,
			Started: 11, Ended: 12, Made: 13}}
	}
	b.ReportAllocs()
	for b.Loop() {
		otlp.Marshal("brine", "1", spansOf(s, testPlan(nil)))
	}
	b.ReportMetric(float64(b.Elapsed()/time.Duration(b.N))/1000, "ns/minion")
}
