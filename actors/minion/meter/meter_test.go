package meter

import (
	"fmt"
	"testing"

	"brine/modules/fleet/ledger"
	"brine/wire/auth"
	"brine/wire/payload"

	"github.com/prometheus/client_golang/prometheus"
)

func TestJobsInHandAreShown(t *testing.T) {
	m := &Meter{}
	m.InHand(3, 2)
	if m.running.Load() != 3 || m.queued.Load() != 2 {
		t.Errorf("got %d, %d", m.running.Load(), m.queued.Load())
	}
}

// TestLabelsOfJobsAreBounded: names of functions come from outside.
func TestLabelsOfJobsAreBounded(t *testing.T) {
	reg := prometheus.NewRegistry()
	opt := Options{Registry: reg, Known: func(string) bool { return false }, Functions: func() int { return 0 },
		Masters: func() []Master { return nil }}
	m, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	ret := payload.NewReturn(payload.M("retcode", 0, "success", true))
	for i := range 1000 {
		m.Job(payload.NewJob(payload.M("fun", fmt.Sprintf("x%d.y", i))), ret, ledger.Minion{Outcome: ledger.Done,
			Started: 1, Ended: 2})
		m.Job(payload.NewJob(payload.M("fun", []any{"a", "b"})), ret, ledger.Minion{Outcome: ledger.Killed})
		m.SignIn("m", auth.Verdict(i))
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := 0
	for _, f := range families {
		series += len(f.GetMetric())
	}
	if series > 20 {
		t.Errorf("%d series: %v", series, families)
	}
	if _, err := New(opt); err == nil {
		t.Error("registered twice")
	}
}

// TestNoMeter: without a registry everything is passed over.
func TestNoMeter(t *testing.T) {
	var m *Meter
	const l = "m"
	m.Job(payload.NewJob(payload.M("fun", "x")), payload.NewReturn(payload.M()), ledger.Minion{})
	m.InHand(1, 1)
	m.SignIn(l, auth.Accepted)
	m.Connected(l)
	m.Tried(l, nil)
	m.Drop(l)
}
