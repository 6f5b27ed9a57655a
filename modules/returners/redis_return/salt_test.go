//go:build interop

package redis_return

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/modules/redisdb"
	"brine/modules/returners/returnertest"
	"brine/wire/payload"
)

// Real Salt leaves in a Redis server what is recorded (with BRINE_RECORD it is recorded), and it and brine read what
// the other has written.
func TestRedisBesideSalt(t *testing.T) {
	judge := returnertest.RealSalt(t)
	written := func(o redisdb.Options, call func(fun string, args ...any)) *payload.Map {
		fill(t, call)
		return dump(t, o)
	}
	theirs, ours := startRedis(t), startRedis(t)
	asks := func(opts *payload.Map) func(fun string, args ...any) any {
		return func(fun string, args ...any) any {
			v, failed := judge.Call(t, opts, fun, args...)
			if failed != "" {
				t.Fatalf("Salt: %s: %s", fun, failed)
			}
			return v
		}
	}
	salts := asks(optsOf(theirs))
	seen := payload.M("holds", written(redisdb.Options{Socket: theirs, DB: 1}, func(fun string, args ...any) {
		salts(fun, args...)
	}))
	seen.Set("reads", reads(salts))
	recorded := returnertest.Record(t, "redis.json", seen)
	if diff := cmp.Diff(returnertest.Sorted(t, recorded), returnertest.Sorted(t, seen)); diff != "" {
		t.Errorf("Salt (-recorded +now):\n%s", diff)
	}

	s := brine(t, optsOf(ours))
	written(redisdb.Options{Socket: ours, DB: 1}, func(fun string, args ...any) { s.Call(fun, args...) })
	want := returnertest.Sorted(t, seen.Value("reads"))
	if diff := cmp.Diff(want, returnertest.Sorted(t, reads(brine(t, optsOf(theirs)).Call))); diff != "" {
		t.Errorf("brine reads what Salt wrote (-Salt +brine):\n%s", diff)
	}
	if diff := cmp.Diff(want, returnertest.Sorted(t, reads(asks(optsOf(ours))))); diff != "" {
		t.Errorf("Salt reads what brine wrote (-its own +brine's):\n%s", diff)
	}
}
