package console

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"brine/wire/control"
	"brine/wire/payload"
)

// TestNamesakes: a user with the same name as one who may do everything cannot see the other's jobs, in the
// list or opened. Other users see their own.
func TestNamesakes(t *testing.T) {
	users := []string{"root", "sudo_ann", "daemon", "limited"}
	jid := map[string]string{"root": "20261123100000000001", "sudo_ann": "20261123100000000002",
		"daemon": "20261123100000000003", "limited": "20261123100000000004"}
	job := func(user string) *payload.Map {
		return payload.M("jid", jid[user], "fun", "test.ping", "tgt", "*", "tgt_type", "glob", "user", user, "minions",
			1, "returned", 0, "outstanding", 1, "waiting_for", []any{})
	}
	jobs := payload.M("jobs", []any{job("root"), job("sudo_ann"), job("daemon"), job("limited")}, "runners", []any{},
		"whole", true)
	h := control.Handlers{}
	control.On(h, func(context.Context, control.GetNewestJobs) (*payload.Map, error) { return jobs, nil })
	control.On(h, func(context.Context, control.GetJobList) (*payload.Map, error) { return jobs, nil })
	control.On(h, func(_ context.Context, q control.GetTrace) (control.Trace, error) {
		for user, id := range jid {
			if id == q.JID {
				return control.Trace{Job: control.Job{JID: id, Fun: "test.ping", User: user}}, nil
			}
		}
		return control.Trace{}, nil
	})
	s, _ := serveBeside(t, h)
	for _, user := range users {
		var want []string
		if user == "limited" {
			want = []string{jid[user]}
		}
		messages(t, s.URL+"/console/api/stream?view=jobs", user, func(name string, data []byte) bool {
			if name != "rows" {
				return false
			}
			var p struct{ Set map[string]any }
			if err := json.Unmarshal(data, &p); err != nil {
				t.Fatal(err)
			}
			if got := slices.Sorted(maps.Keys(p.Set)); !slices.Equal(got, want) {
				t.Errorf("%s sees %v, want %v", user, got, want)
			}
			return true
		})
		for _, other := range users {
			messages(t, s.URL+"/console/api/stream?view=job&jid="+jid[other], user,
				func(name string, data []byte) bool {
					if name != "rows" && name != "note" {
						return false
					}
					refused := bytes.Contains(data, []byte("somebody else's"))
					if shown := strings.Contains(string(data), "test.ping"); shown == refused ||
						shown != (other == user && user == "limited") {
						t.Errorf("%s opens the job of %s: %s %s", user, other, name, data)
					}
					return true
				})
		}
	}
}
