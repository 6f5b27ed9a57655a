//go:build interop

package interop

import (
	"encoding/json"
	"testing"

	"brine/modules/modtest"
)

// TestGrainsBesideSalt compares grains.items of a brine minion and a Salt 3008 minion on one master.
// modules/grains/testdata/differences.json lists the permitted differences, with their reasons.
func TestGrainsBesideSalt(t *testing.T) {
	onlyWith(t, reference)
	t.Parallel()
	const theirs, ours = "m" + reference, "mbrine"
	f := newFleet(t, brine, brine, map[string]string{theirs: reference, ours: brine}, plain)
	f.startAll()
	f.acceptAll()
	got := f.grains(theirs, ours)
	problems, err := modtest.GrainDifferences("../../../modules/grains/testdata/differences.json", got[theirs],
		got[ours], false)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

// grains asks minions for all their grains, and replaces values that belong to one minion.
func (f *fleet) grains(ids ...string) map[string]map[string]any {
	f.t.Helper()
	r := f.mustRun(brine, "salt", "--static", "--out=json", "-t", f.wait, "*", "grains.items")
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(r.stdout), &raw); err != nil {
		f.t.Fatalf("grains.items: %v\n%s", err, r.stdout)
	}
	out := map[string]map[string]any{}
	for _, id := range ids {
		var one map[string]any
		if err := json.Unmarshal([]byte(f.impersonal(string(raw[id]), id)), &one); err != nil {
			f.t.Fatalf("grains of %s: %v\n%s", id, err, raw[id])
		}
		out[id] = one
	}
	return out
}
