package event_test

import (
	"bytes"
	"testing"

	"brine/wire/event"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// TestJobData: tools read the fields that a master writes for a new job, in Salt's order. Fields that are missing in
// the request become None.
func TestJobData(t *testing.T) {
	ask := payload.NewPublishRequest(payload.M("jid", "1", "fun", []any{"a.b"}, "tgt", "m*", "user", "root", "key",
		"secret"))
	data := event.NewJob(ask, []string{"m1", "m2"}, nil)
	want := payload.M("jid", "1", "tgt_type", nil, "tgt", "m*", "user", "root", "fun", []any{"a.b"}, "arg", nil,
		"minions", []any{"m1", "m2"}, "missing", []any{})
	got, err := payload.MarshalBin(data)
	if packed, err2 := payload.MarshalBin(want); err != nil || err2 != nil || !bytes.Equal(got, packed) {
		t.Errorf("got %v, want %v", data, want)
	}
	if diff := cmp.Diff(event.Job{JID: "1", Minions: []string{"m1", "m2"}, Missing: []string{}},
		event.ReadJob(data)); diff != "" {
		t.Error(diff)
	}
	if short := event.ReadJob(event.NewShortJob(nil)); short.Minions == nil || len(short.Minions) > 0 ||
		short.JID != "" {
		t.Errorf("a job of nobody: %+v", short)
	}
}

// TestWrongData: data of other types reads as empty, and data of another event names nobody.
func TestWrongData(t *testing.T) {
	for _, v := range []any{nil, int64(7), "text", payload.M("a", 1)} {
		j := event.ReadJob(payload.M("jid", 7, "minions", v, "missing", v))
		if j.JID != "" || j.Minions != nil || len(j.Missing) > 0 {
			t.Errorf("%T: %+v", v, j)
		}
	}
	if j := event.ReadJob(payload.M("minions", []any{"m1", 7})); !cmp.Equal(j.Minions, []string{"m1"}) {
		t.Errorf("minions %v", j.Minions)
	}
	if j := event.ReadJob(nil); j.Minions != nil || event.Refuses(nil) || event.ByMinion(nil) {
		t.Errorf("no data at all: %+v", j)
	}
}

// TestWhoSpeaks: events by minions, events that end a job, and the ids in events.
func TestWhoSpeaks(t *testing.T) {
	said := payload.M("cmd", payload.CmdMinionEvent, "id", int64(7))
	if id, named := event.Author(said); !event.ByMinion(said) || id != int64(7) || !named {
		t.Errorf("by %v, %v", id, named)
	}
	if _, named := event.Author(payload.NewMap(0)); named || event.ByMinion(payload.M("cmd", "_return")) ||
		!event.Refuses(payload.M("error", nil)) {
		t.Error("an event of somebody else")
	}
}

func TestBatchHalt(t *testing.T) {
	for _, tt := range []struct {
		data *payload.Map
		want event.BatchHalt
	}{
		{payload.M("jid", "1", "reason", "failhard"), event.BatchHalt{JID: "1", Reason: "failhard"}},
		{payload.M("jid", "1", "reason", 7), event.BatchHalt{JID: "1", Reason: "stop"}},
		{nil, event.BatchHalt{Reason: "stop"}},
	} {
		if got := event.ReadBatchHalt(tt.data); got != tt.want {
			t.Errorf("%v: got %+v", tt.data, got)
		}
	}
}
