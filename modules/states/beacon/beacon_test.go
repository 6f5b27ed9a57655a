package beacon_test

import (
	"strings"
	"testing"

	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/modules/states/statetest"
	"brine/wire/payload"
)

// single runs one state.
func single(t *testing.T, env *loader.Env, fun string, kw *payload.Map) *payload.Map {
	t.Helper()
	v, _, err := modtest.Call(t, env, "state.single", []any{fun}, kw)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range v.(*payload.Map).All() {
		return row.(*payload.Map)
	}
	return nil
}

// TestWithout: a minion without the execution module says so by name.
func TestWithout(t *testing.T) {
	env, _ := statetest.Minion(t, nil, nil)
	if env.Has("beacons.list") {
		t.Skip("the module beacons is here")
	}
	for _, fun := range []string{"present", "absent", "enabled", "disabled"} {
		ret := single(t, env, "beacon."+fun, payload.M("name", "load"))
		if comment := ret.Str("comment"); ret.Value("result") != false || !strings.Contains(comment, "beacons") {
			t.Errorf("%s: %v, %s", fun, ret.Value("result"), comment)
		}
	}
}

// beacons is a module that keeps beacons.
func beacons(kept *payload.Map) []loader.Func {
	type some struct {
		Args []any        `arg:"*args"`
		KW   *payload.Map `arg:"**kwargs"`
	}
	change := func(_ *loader.Call, a some) (any, error) {
		if a.KW.Bool("test") {
			return payload.M("result", true, "comment", "would", "changes", payload.NewMap(0)), nil
		}
		if len(a.Args) > 1 {
			kept.Set(a.Args[0], a.Args[1])
		} else {
			kept.Delete(a.Args[0])
		}
		return payload.M("result", true, "comment", "did", "changes", payload.M("x", "y")), nil
	}
	list := func(*loader.Call, some) (any, error) { return kept, nil }
	save := func(*loader.Call, some) (any, error) { return true, nil }
	return []loader.Func{loader.Fn("beacons.list", list, ""), loader.Fn("beacons.add", change, ""),
		loader.Fn("beacons.modify", change, ""), loader.Fn("beacons.delete", change, ""),
		loader.Fn("beacons.save", save, "")}
}

// TestWith: with the module a beacon is added once, modified when it differs, and deleted; in test mode none is.
func TestWith(t *testing.T) {
	env, _ := statetest.Minion(t, nil, nil)
	kept := payload.NewMap(0)
	env.Registry.Offer(modtest.Source(beacons(kept)...))
	for _, tt := range []struct {
		fun     string
		kw      *payload.Map
		comment string
		kept    int
	}{
		{"present", payload.M("interval", int64(5), "test", true), "would", 0},
		{"present", payload.M("interval", int64(5)), "Adding load to beacons", 1},
		{"present", payload.M("interval", int64(5)), "Job load in correct state", 1},
		{"present", payload.M("interval", int64(6), "save", true, "test", true), "would\nBeacon load would be saved", 1},
		{"present", payload.M("interval", int64(6), "save", true), "Modifying load in beacons\nBeacon load saved", 1},
		{"absent", payload.M("test", true), "would", 1},
		{"absent", payload.NewMap(0), "Removed load from beacons", 0},
		{"absent", payload.M("save", true), "load not configured in beacons\nBeacon load saved", 0},
		{"enabled", payload.NewMap(0), "load not a configured beacon", 0},
		{"disabled", payload.NewMap(0), "Job load is not configured.", 0},
	} {
		ret := single(t, env, "beacon."+tt.fun, tt.kw.Set("name", "load"))
		if ret.Value("result") != true || ret.Value("comment") != tt.comment || kept.Len() != tt.kept {
			t.Errorf("%s %v: %v, %q, %d kept", tt.fun, tt.kw, ret.Value("result"), ret.Value("comment"), kept.Len())
		}
	}
}
