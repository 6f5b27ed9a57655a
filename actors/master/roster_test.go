package master

import (
	"context"
	"fmt"
	"testing"
	"time"

	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/wire/payload"
)

// TestRoster: keys, what a minion speaks, when it was heard, its last job; and a glob that leaves others out.
func TestRoster(t *testing.T) {
	r := newRig(t)
	m1 := r.minion("m1")
	r.accept("m2", "minion")
	for id, st := range map[string]keys.Status{"new": keys.Pending, "bad": keys.Rejected, "denied": keys.Denied} {
		if err := r.keyStore().Put(st, id, r.rsa["minion"].Public); err != nil {
			t.Fatal(err)
		}
	}
	roster := func(glob string) (map[string]*payload.Map, *payload.Map) {
		t.Helper()
		got, err := r.m.Roster(context.Background(), glob)
		if err != nil {
			t.Fatal(err)
		}
		byID := map[string]*payload.Map{}
		for _, v := range got.List("minions") {
			row := v.(*payload.Map)
			byID[row.Str("id")] = row
		}
		return byID, got.Map("counts")
	}
	r.m.core.book.Peers.Connection(7, "10.0.0.7", true, ledger.At(time.Now())) // of somebody who names nobody
	jid := r.publish(payload.M("tgt", "m1"))
	m1.ask(payload.M("cmd", "_return", "id", "m1", "jid", jid, "fun", "test.ping", "return", true, "retcode", 0,
		"success", true))
	all, counts := roster("")
	if len(all) != 5 || fmt.Sprint(counts.Value("accepted"), counts.Value("pending"), counts.Value("rejected"),
		counts.Value("denied")) != "2 1 1 1" {
		t.Errorf("got %v, counts %v", all, counts)
	}
	for id, want := range map[string]string{"m1": "accepted", "m2": "accepted", "new": "pending", "bad": "rejected",
		"denied": "denied"} {
		if got := all[id].Str("key"); got != want {
			t.Errorf("%s: key %q, want %q", id, got, want)
		}
	}
	row := all["m1"]
	if v, _ := row.Int("protocol"); v < 2 || row.Str("heard") == "" || row.Str("sign_in") != "accept" ||
		row.Map("last_job").Str("jid") != jid || row.Map("last_job").Str("fun") != "test.ping" {
		t.Errorf("m1: %v", row)
	}
	if row.Str("connected") != "yes" { // it names itself on no connection, and has just sent what only m1 can send
		t.Errorf("m1 has returned a job and is connected: %s", row.Str("connected"))
	}
	if row := all["m2"]; row.Value("protocol") != nil || row.Value("heard") != nil || row.Value("last_job") != nil ||
		row.Str("connected") == "yes" {
		t.Errorf("m2: %v", row)
	}
	if some, _ := roster("m*"); len(some) != 2 {
		t.Errorf("m*: got %v", some)
	}
}

// BenchmarkRoster looks at ten thousand minions.
func BenchmarkRoster(b *testing.B) {
	r := newRig(b)
	store := r.keyStore()
	for i := range 10_000 {
		if err := store.Put(keys.Accepted, fmt.Sprintf("minion%05d", i), r.rsa["minion"].Public); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		got, err := r.m.Roster(context.Background(), "")
		if err != nil || len(got.List("minions")) != 10_000 {
			b.Fatalf("%d minions, %v", len(got.List("minions")), err)
		}
	}
}
