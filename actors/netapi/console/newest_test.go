package console

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"brine/wire/control"
	"brine/wire/control/controltest"
	"brine/wire/payload"
)

// serveBeside starts a console beside a brine master with the given answers.
func serveBeside(t *testing.T, h control.Handlers) (*httptest.Server, *fakeFront) {
	t.Helper()
	dir := t.TempDir()
	controltest.Serve(t, dir, h)
	front := &fakeFront{calls: make(chan *payload.Map, 100), bus: make(chan [2]any, 1000)}
	s := httptest.NewServer(New(Options{Front: front, Files: fakeFiles{}, Master: control.At(dir), Version: "1",
		MasterUsers: []string{"daemon"}}))
	t.Cleanup(s.Close)
	return s, front
}

// TestEndedJobs: the list shows the number of returns of jobs that ended before the page asked, and shows no
// invented numbers.
func TestEndedJobs(t *testing.T) {
	now := time.Now()
	jid := func(ago time.Duration) string { return payload.NewJID(now.Add(-ago)) }
	done, part, old, untold := jid(time.Minute), jid(2*time.Minute), jid(48*time.Hour), jid(3*time.Minute)
	job := func(jid string, minions, returned, out int) *payload.Map {
		return payload.M("jid", jid, "fun", "test.ping", "tgt", "*", "tgt_type", "glob", "user", "x", "minions",
			minions, "returned", returned, "outstanding", out, "waiting_for", []any{})
	}
	asked := make(chan control.GetNewestJobs, 9)
	h := control.Handlers{}
	control.On(h, func(_ context.Context, q control.GetNewestJobs) (*payload.Map, error) {
		asked <- q
		return payload.M("jobs", []any{job(done, 2, 2, 0), job(part, 3, 1, 2), job(untold, 4, -1, 0),
			job(old, 5, 4, 1)}, "whole", true), nil
	})
	control.On(h, func(context.Context, control.GetJobList) (*payload.Map, error) {
		return payload.M("jobs", []any{job(part, 3, 1, 2)}, "runners", []any{}, "whole", true), nil
	})
	s, _ := serveBeside(t, h)
	type told struct {
		State             string
		Minions, Returned int64
	}
	want := map[string]told{done: {stateDone, 2, 2}, part: {stateRunning, 3, 1}, untold: {stateStored, 4, -1},
		old: {stateStored, 5, 4}}
	messages(t, s.URL+"/console/api/stream?view=jobs", "admin", func(name string, data []byte) bool {
		if name != "rows" {
			return false
		}
		var p struct{ Set map[string]told }
		if err := json.Unmarshal(data, &p); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p.Set, want) {
			t.Errorf("got %v, want %v", p.Set, want)
		}
		return true
	})
	if q := <-asked; q.User != "" || q.Count != maxJobs {
		t.Errorf("asked %+v", q)
	}
	messages(t, s.URL+"/console/api/stream?view=jobs", "limited", func(name string, data []byte) bool {
		return name == "rows"
	})
	if q := <-asked; q.User != "limited" {
		t.Errorf("for a user with few rights %+v was asked", q)
	}
}
