package supervisor

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestShutdown(t *testing.T) {
	type step struct {
		event haltEvent
		want  orders
	}
	begin, half, over := haltEvent{kind: haltBegin}, haltEvent{kind: haltHalf}, haltEvent{kind: haltOver}
	ended := func(name string) haltEvent { return haltEvent{haltEnded, name} }
	for _, tt := range []struct {
		name    string
		started []string
		steps   []step
	}{
		{"nobody", nil, []step{{begin, orders{finished: true}}}},
		{"one after the other, the last first", []string{"a", "b", "c"}, []step{
			{begin, orders{tell: []string{"c"}}},
			{ended("c"), orders{tell: []string{"b"}}},
			{ended("b"), orders{tell: []string{"a"}}},
			{ended("a"), orders{finished: true}},
		}},
		{"one that has ended by itself is not told", []string{"a", "b", "c"}, []step{
			{begin, orders{tell: []string{"c"}}},
			{ended("b"), orders{}},
			{ended("c"), orders{tell: []string{"a"}}},
			{ended("a"), orders{finished: true}},
		}},
		{"after half of the time all are told", []string{"a", "b", "c"}, []step{
			{begin, orders{tell: []string{"c"}}},
			{half, orders{tell: []string{"b", "a"}}},
			{ended("a"), orders{}},
			{ended("b"), orders{}},
			{ended("c"), orders{finished: true}},
		}},
		{"at the deadline the rest is abandoned", []string{"a", "b", "c"}, []step{
			{begin, orders{tell: []string{"c"}}},
			{half, orders{tell: []string{"b", "a"}}},
			{ended("a"), orders{}},
			{over, orders{abandon: []string{"c", "b"}, finished: true}},
		}},
		{"no time at all", []string{"a", "b"}, []step{
			{begin, orders{tell: []string{"b"}}},
			{over, orders{abandon: []string{"b", "a"}, finished: true}},
		}},
		{"the end of a stranger", []string{"a"}, []step{
			{begin, orders{tell: []string{"a"}}},
			{ended("x"), orders{}},
			{ended("a"), orders{finished: true}},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newShutdown(tt.started)
			for i, step := range tt.steps {
				var o orders
				s, o = nextShutdown(s, step.event)
				if diff := cmp.Diff(step.want, o, cmp.AllowUnexported(orders{})); diff != "" {
					t.Fatalf("step %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

// TestShutdownProperties: in any order of ends, each child is told at most once, each one ends or is abandoned, and the
// shutdown is over exactly when no child is left.
func TestShutdownProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}`), 0, 8, rapid.ID).Draw(t, "children")
		s := newShutdown(names)
		alive := slices.Clone(names)
		var told, abandoned []string
		finished, ordered := false, true
		take := func(e haltEvent) {
			var o orders
			s, o = nextShutdown(s, e)
			told = append(told, o.tell...)
			abandoned = append(abandoned, o.abandon...)
			alive = slices.DeleteFunc(alive, func(n string) bool { return slices.Contains(o.abandon, n) })
			finished = o.finished
			if ordered && e.kind != haltHalf && len(o.tell) > 1 {
				t.Fatalf("told %v at once in the first half", o.tell)
			}
		}
		take(haltEvent{kind: haltBegin})
		for !finished {
			switch pick := rapid.IntRange(0, 9).Draw(t, "event"); {
			case pick == 0:
				ordered = false
				take(haltEvent{kind: haltHalf})
			case pick == 1:
				take(haltEvent{kind: haltOver})
			case len(alive) > 0:
				name := rapid.SampledFrom(alive).Draw(t, "dies")
				alive = slices.DeleteFunc(alive, func(n string) bool { return n == name })
				take(haltEvent{haltEnded, name})
			}
			if finished != (len(alive) == 0) {
				t.Fatalf("finished is %v with %v alive", finished, alive)
			}
		}
		sorted := slices.Sorted(slices.Values(told))
		if len(slices.Compact(sorted)) != len(told) {
			t.Fatalf("told twice: %v", told)
		}
		back := slices.Clone(names)
		slices.Reverse(back)
		back = slices.DeleteFunc(back, func(n string) bool { return !slices.Contains(told, n) })
		if !slices.Equal(back, told) {
			t.Fatalf("told %v, want the order %v", told, back)
		}
	})
}
