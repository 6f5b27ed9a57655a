package minion

import (
	"slices"
	"strings"
	"testing"

	"brine/actors/actortest"
	"brine/actors/minion/facts"
	"brine/wire/auth"
	"brine/wire/payload"
)

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
	r.m.refresher.Send(&facts.RefreshGrains{Done: func(changed bool) { done <- changed }})
	actortest.Wait(t, "grains", done)
	if after := r.m.envs[r.m.links[1]].Grains(); after == before || after.Value("master") != "b.test" {
		t.Errorf("grains that were computed anew have %v", after.Value("master"))
	}
}
