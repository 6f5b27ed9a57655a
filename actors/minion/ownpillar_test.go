package minion

import (
	"context"
	"sync/atomic"
	"testing"

	"brine/actors/minion/facts"
	"brine/modules/loader"
	"brine/wire/payload"
)

// counted is a pillar that tells how often it was compiled.
type counted struct{ n atomic.Int64 }

func (c *counted) Compile(context.Context, loader.PillarQuery) (*payload.Map, error) {
	return payload.M("where", "here", "compiled", c.n.Add(1)), nil
}

// TestOwnPillar: with file_client: local jobs get the pillar of this machine, whatever the master has, and those that
// belong to no master get it, too. A refresh compiles it anew.
func TestOwnPillar(t *testing.T) {
	r := newRig(t, "file_client: local\nuse_master_when_local: True\n")
	source := &counted{}
	r.opt.OwnPillar = func(*loader.Env) loader.PillarSource { return source }
	r.master().pillar = payload.M("where", "master")
	r.up()
	if p, _ := r.run(jid(1), "t.pillar").Value("return").(*payload.Map); p.Str("where") != "here" {
		t.Errorf("pillar in a job of the master: %v", p)
	}
	refreshed := make(chan error, 1)
	r.m.refresher.Send(&facts.RefreshPillar{Done: func(err error) { refreshed <- err }})
	if err := <-refreshed; err != nil {
		t.Fatal(err)
	}
	before, _ := r.m.envs[nil].Pillar().Int("compiled")
	r.m.refresher.Send(&facts.RefreshPillar{Done: func(err error) { refreshed <- err }})
	if err := <-refreshed; err != nil {
		t.Fatal(err)
	}
	if after, _ := r.m.envs[nil].Pillar().Int("compiled"); after <= before {
		t.Errorf("compilation %d, then %d", before, after)
	}
	if p, err := (host{r.m, nil}).Compile(t.Context(), loader.PillarQuery{}); err != nil || p.Str("where") != "here" {
		t.Errorf("a fresh one: %v, %v", p, err)
	}
}
