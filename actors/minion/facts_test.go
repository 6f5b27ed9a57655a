package minion

import (
	"slices"
	"strings"
	"testing"

	"brine/actors/actortest"
	"brine/config"
	"brine/wire/auth"
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
func factsFrom(compute func(fresh bool) Grains) *facts {
	return newFacts(factsOptions{compute: compute, options: payload.NewMap(0)})
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

// TestMasterOfJob: of a minion with several masters, each sees itself as the master: in grains, options, targets and
// pillar requests.
func TestMasterOfJob(t *testing.T) {
	r := newRig(t, "start_event_grains: [master]\n", "a.test:4510", "b.test")
	asked := make([]any, len(r.masters)) // the grain of the last pillar request
	for i, f := range r.masters {
		f.answer = func(o *auth.Opened) (any, bool) {
			if o.Cmd == payload.CmdPillar {
				f.set(func() { asked[i] = o.Load.Map("grains").Value("master") })
			}
			return nil, false
		}
	}
	r.start()
	for range r.masters {
		actortest.Wait(t, "ready master", r.ready)
	}
	for i, want := range []string{"a.test", "b.test"} {
		f, env := r.masters[i], r.m.envs[r.m.links[i]]
		one, _ := env.GrainOf("master")
		if all := env.Grains().Value("master"); all != want || one != want || env.Opts().Value("master") != want {
			t.Errorf("master %s is %v in all grains, %v alone, %v in the options", want, all, one,
				env.Opts().Value("master"))
		}
		if once, again := env.Grains(), env.Grains(); once != again || again.Value("role") != "web" ||
			env.Opts().Str("id") != "m1" {
			t.Errorf("master %s: other grains or options are wrong, or made anew", want)
		}
		f.await(t, "pillar request and start event", func() bool {
			return asked[i] == want && slices.ContainsFunc(f.requests, func(load *payload.Map) bool {
				return strings.HasSuffix(load.Str("tag"), "/start") && load.Map("grains").Value("master") == want
			})
		})
	}
	if got := r.m.envs[nil].Grains().List("master"); len(got) != 2 {
		t.Errorf("without a master the grain is %v", got)
	}
	port, _ := r.m.envs[r.m.links[0]].Opts().Int("master_port")
	if port != 4510 {
		t.Errorf("master_port of the first is %d", port)
	}
	before := r.m.envs[r.m.links[1]].Grains()
	done := make(chan bool, 1)
	r.m.refresher.Send(&RefreshGrains{Done: func(changed bool) { done <- changed }})
	actortest.Wait(t, "grains", done)
	if after := r.m.envs[r.m.links[1]].Grains(); after == before || after.Value("master") != "b.test" {
		t.Errorf("grains that were computed anew have %v", after.Value("master"))
	}
}

// TestMasterGrainSet: a grain of that name that the configuration sets is left as it is.
func TestMasterGrainSet(t *testing.T) {
	for _, grains := range []*payload.Map{payload.M("master", "mine"), payload.NewMap(0)} {
		all := factsFrom(func(bool) Grains { return fixedGrains{grains} })
		f := newView(all, payload.M("master", []any{"a", "b"}), config.MasterAddr{Host: "a", Port: 4506})
		one, has := f.grain("master")
		if f.grains() != grains || has != grains.Has("master") || has && one != "mine" {
			t.Errorf("%v: got %v, %v %v", grains.Keys(), f.grains(), one, has)
		}
	}
}
