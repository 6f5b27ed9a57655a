//go:build interop

package etcd_return

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/modules/returners/returnertest"
	"brine/wire/payload"
)

// Real Salt leaves in etcd what is recorded, and it and brine read what the other has written.
func TestEtcdBesideSalt(t *testing.T) {
	judge := returnertest.RealSalt(t)
	seen := payload.NewMap(0)
	theirs, ours := startEtcd(t), startEtcd(t)
	for _, kind := range kinds {
		asks := func(opts *payload.Map) func(fun string, args ...any) any {
			return func(fun string, args ...any) any {
				v, failed := judge.Call(t, opts, fun, args...)
				if failed != "" {
					t.Fatalf("Salt: %s: %s: %s", kind, fun, failed)
				}
				return v
			}
		}
		salts := asks(optsOf(theirs, kind))
		fill(t, kind, func(fun string, args ...any) { salts(fun, args...) })
		read := reads(kind, salts)
		seen.Set(kind, payload.M("holds", dump(t, optsOf(theirs, kind)), "reads", read))
		s := brine(t, optsOf(ours, kind))
		fill(t, kind, func(fun string, args ...any) { s.Call(fun, args...) })
		if diff := cmp.Diff(returnertest.Sorted(t, read),
			returnertest.Sorted(t, reads(kind, brine(t, optsOf(theirs, kind)).Call))); diff != "" {
			t.Errorf("%s: brine reads what Salt wrote (-Salt +brine):\n%s", kind, diff)
		}
		if diff := cmp.Diff(returnertest.Sorted(t, read), returnertest.Sorted(t, reads(kind, asks(optsOf(ours,
			kind))))); diff != "" {
			t.Errorf("%s: Salt reads what brine wrote (-its own +brine's):\n%s", kind, diff)
		}
	}
	if diff := cmp.Diff(returnertest.Sorted(t, returnertest.Record(t, "etcd.json", seen)), returnertest.Sorted(t,
		seen)); diff != "" {
		t.Errorf("Salt (-recorded +now):\n%s", diff)
	}
}
