package quota

import "testing"

func TestAtOnce(t *testing.T) {
	a := &AtOnce{Most: 2}
	for i, step := range []struct {
		id   string
		want bool
	}{{"m1", true}, {"m1", true}, {"m1", false}, {"m2", true}} {
		if got := a.Enter(step.id); got != step.want {
			t.Errorf("step %d, %s: got %v", i, step.id, got)
		}
	}
	a.Leave("m1")
	if !a.Enter("m1") || a.Enter("m1") {
		t.Error("what has ended makes room for one")
	}
	for range 2 {
		a.Leave("m1")
	}
	a.Leave("m2")
	if len(a.n) != 0 {
		t.Errorf("remembered: %v", a.n)
	}
}
