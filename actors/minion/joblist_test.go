package minion

import (
	"context"
	"fmt"
	"testing"
	"time"

	"brine/wire/payload"
)

// TestJobList shows what runs, what waits, and what the master has not acknowledged.
func TestJobList(t *testing.T) {
	r := newRig(t, "process_count_max: 1\n").up()
	f := r.master()
	for i := range 3 {
		f.publish(jid(i), "t.block")
	}
	r.awaitBegun(t, jid(0), 1)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	look := func() *payload.Map {
		t.Helper()
		list, err := r.m.JobList(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	jids := func(list []any) (out []string) {
		for _, v := range list {
			out = append(out, v.(*payload.Map).Str("jid"))
		}
		return out
	}
	list := look()
	for len(list.List("queued")) < 2 && ctx.Err() == nil { // they come one after the other
		list = look()
	}
	if got, want := fmt.Sprint(jids(list.List("running")), jids(list.List("queued"))), fmt.Sprint([]string{jid(0)},
		[]string{jid(1), jid(2)}); got != want {
		t.Errorf("running and queued: got %s, want %s", got, want)
	}
	running := list.List("running")[0].(*payload.Map)
	if _, err := time.Parse(time.RFC3339Nano, running.Str("since")); err != nil || running.Str("fun") != "t.block" {
		t.Errorf("running: %v, %v", running, err)
	}
	if most, _ := list.Int("most"); most != 1 || len(list.List("returns")) != 0 {
		t.Errorf("got %v", list)
	}
	told := asData(r.run(jid(10), "brine.jobs").Value("return"))
	if len(told.List("queued")) != 2 {
		t.Errorf("brine.jobs: got %v", told)
	}
	for list = look(); len(list.List("returns")) > 0 && ctx.Err() == nil; list = look() {
		// that of brine.jobs, on its way to be acknowledged
	}
	f.set(func() { f.down = true })
	r.fun.release()
	for len(list.List("returns")) < 3 && ctx.Err() == nil {
		list = look()
	}
	ret := list.List("returns")[0].(*payload.Map)
	if n, _ := ret.Int("bytes"); ret.Str("jid") != jid(0) || ret.Str("master") != "master.test" || n == 0 {
		t.Errorf("returns: %v", list.List("returns"))
	}
}
