//go:build interop

package interop

import "testing"

// TestBrineMinion takes two brine minions through the same life on a real master of each release, with the
// master's own command line.
func TestBrineMinion(t *testing.T) {
	t.Parallel()
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, release, release, map[string]string{"m1": brine, "m2": brine}, plain)
			f.startAll()
			wholeLife(f)
			f.step("refuse", func(f *fleet) { f.refuse(brine) })
			throughVariants(f)
			f.step("refused", (*fleet).refused)
		})
	}
}
