//go:build interop

package interop

import "testing"

// allKinds is a brine minion and one of every release. Their ids contain their kinds.
func allKinds() map[string]string {
	out := map[string]string{"mbrine": brine}
	for _, release := range append([]string{reference}, releases...) {
		out["m"+release] = release
	}
	return out
}

// TestBrineMaster takes minions of four releases and a brine minion through the life of a fleet on one brine
// master, with Salt's own command line.
func TestBrineMaster(t *testing.T) {
	t.Parallel()
	f := newFleet(t, brine, "3008", allKinds(), plain)
	f.startAll()
	wholeLife(f)
}

// wholeLife is the list of steps for every kind of minion on every kind of master.
func wholeLife(f *fleet) {
	if !f.step("keys", (*fleet).joins) {
		return
	}
	f.step("jobs", (*fleet).jobs)
	f.step("targets", (*fleet).targets)
	f.step("mine and publish", (*fleet).mineAndPublish)
	f.step("events", func(f *fleet) { f.events(f.tools) })
	f.step("restarts", (*fleet).restarts)
	f.step("denied", (*fleet).denied)
	f.step("deletions", (*fleet).deletions)
}

// TestBrineMasterVariants runs the fleet with the options that change the messages on the network.
func TestBrineMasterVariants(t *testing.T) {
	t.Parallel()
	f := newFleet(t, brine, "3008", allKinds(), plain)
	f.startAll()
	f.acceptAll()
	throughVariants(f)
}

func throughVariants(f *fleet) {
	for _, v := range variants {
		f.step(v.name, func(f *fleet) {
			f.restartAll(v)
			f.travels(v)
		})
	}
}
