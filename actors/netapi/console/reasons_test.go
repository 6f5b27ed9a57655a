package console

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"testing"

	"brine/wire/control"
	"brine/wire/payload"
)

// TestReasonsEnd: a minion that has returned gets no reason of silence any more, even if the master's last
// answer contains one.
func TestReasonsEnd(t *testing.T) {
	const jid = "20261123163305316797"
	var back atomic.Bool // web1 has returned; web2 never does
	three := int64(3)
	returns := func() *payload.Map {
		if back.Load() {
			return payload.M("web0", payload.M("return", true), "web1", payload.M("return", true))
		}
		return payload.M("web0", payload.M("return", true))
	}
	h := control.Handlers{}
	control.On(h, func(context.Context, control.GetTrace) (control.Trace, error) {
		n := int64(returns().Len())
		return control.Trace{Job: control.Job{JID: jid, Fun: "test.ping", User: "x", Minions: &three, Returned: n,
			Silent: three - n}}, nil
	})
	control.On(h, func(context.Context, control.GetJobLoad) (*payload.Map, error) { return payload.M(), nil })
	control.On(h, func(context.Context, control.GetJobReturns) (*payload.Map, error) { return returns(), nil })
	control.On(h, func(context.Context, control.GetWhy) (control.Reasons, error) {
		return control.Reasons{Reasons: []control.Reason{{Minion: "web1", Code: "running"},
			{Minion: "web2", Code: "running"}}}, nil
	})
	s, front := serveBeside(t, h)
	messages(t, s.URL+"/console/api/stream?view=job&jid="+jid, "admin", func(name string, data []byte) bool {
		var p Patch
		if name != "rows" {
			return false
		}
		if err := json.Unmarshal(data, &p); err != nil {
			t.Fatal(err)
		}
		switch {
		case p.Table != "why":
		case !back.Load():
			if len(p.Set) != 2 {
				t.Errorf("the reasons are %s", data)
			}
			back.Store(true)
			front.bus <- [2]any{"salt/job/" + jid + "/ret/web1", payload.M()}
		default:
			if len(p.Set) != 0 || !slices.Equal(p.Gone, []string{"web1"}) {
				t.Errorf("then they are %s", data)
			}
			return true
		}
		return false
	})
}
