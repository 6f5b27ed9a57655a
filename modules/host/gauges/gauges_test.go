package gauges

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// TestLook registers a collector and reads it twice.
func TestLook(t *testing.T) {
	depth, dropped, unread := Gauge("depth", "How deep.", "pool"), Counter("dropped_total", "How many."),
		Gauge("unread", "Never told.")
	n := 0.0
	reg := prometheus.NewRegistry()
	err := reg.Register(Look(func(tell Tell) {
		n++
		tell(depth, n, "fast")
		tell(depth, -n, "slow")
		tell(dropped, 7)
	}, depth, dropped, unread))
	if err != nil {
		t.Fatal(err)
	}
	for round := 1.0; round <= 2; round++ {
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := f.GetName() + " " + f.GetType().String()
				for _, l := range m.GetLabel() {
					name += " " + l.GetName() + "=" + l.GetValue()
				}
				got[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
		want := map[string]float64{"depth GAUGE pool=fast": round, "depth GAUGE pool=slow": -round,
			"dropped_total COUNTER": 7}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("read %v (-want +got):\n%s", slices.Sorted(maps.Keys(got)), diff)
		}
	}
	if err := reg.Register(Look(func(Tell) {}, unread)); err == nil {
		t.Error("a value can be registered twice")
	}
}
