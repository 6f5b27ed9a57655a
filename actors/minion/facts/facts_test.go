package facts

import (
	"testing"

	"brine/config"
	"brine/wire/payload"
)

// countedGrains count how often all of them are computed.
type countedGrains struct {
	values *payload.Map
	all    *int
}

func (g countedGrains) Map() *payload.Map {
	*g.all++
	return g.values
}

func (g countedGrains) Get(name string) (any, bool) { return g.values.Get(name) }

// factsFrom are the facts of a minion without a master.
func factsFrom(compute func(fresh bool) Grains) *Facts {
	return New(Options{Compute: compute, Options: payload.NewMap(0)})
}

// TestFacts computes single grains alone, all of them once, and anew when it is told to.
func TestFacts(t *testing.T) {
	all, now := 0, "a"
	var asked []bool
	f := factsFrom(func(fresh bool) Grains {
		asked = append(asked, fresh)
		return countedGrains{payload.M("x", now), &all}
	})
	if v, ok := f.grain("x"); v != "a" || !ok || all != 0 {
		t.Errorf("one grain: %v, %v, all were computed %d times", v, ok, all)
	}
	if g := f.grains(); g.Str("x") != "a" || f.grains() != g || all != 1 {
		t.Errorf("all grains: %v, computed %d times", g, all)
	}
	if f.refresh() {
		t.Error("the same grains are a change")
	}
	now = "b"
	if !f.refresh() || f.grains().Str("x") != "b" {
		t.Errorf("after a refresh: %v", f.grains())
	}
	if v, _ := f.grain("x"); v != "b" {
		t.Errorf("one grain after a refresh: %v", v)
	}
	if len(asked) != 3 || asked[0] || !asked[1] || !asked[2] {
		t.Errorf("asked past the file: %v", asked)
	}
	if early := factsFrom(func(bool) Grains {
		return countedGrains{payload.M("x", "c"), new(int)}
	}); !early.refresh() || early.grains().Str("x") != "c" {
		t.Error("a refresh before anybody has asked")
	}
}

// TestMasterGrainSet: a grain of that name that the configuration sets is left as it is.
func TestMasterGrainSet(t *testing.T) {
	for _, grains := range []*payload.Map{payload.M("master", "mine"), payload.NewMap(0)} {
		all := factsFrom(func(bool) Grains { return countedGrains{grains, new(int)} })
		f := newView(all, payload.M("master", []any{"a", "b"}), config.MasterAddr{Host: "a", Port: 4506})
		one, has := f.Grain("master")
		if f.Grains() != grains || has != grains.Has("master") || has && one != "mine" {
			t.Errorf("%v: got %v, %v %v", grains.Keys(), f.Grains(), one, has)
		}
	}
}
