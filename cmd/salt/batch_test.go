package salt

import (
	"context"
	"testing"

	"brine/cmd/tooltest"
	"brine/wire/control"
	"brine/wire/control/controltest"
	"brine/wire/payload"
)

// TestMasterRunsBatches: a Salt master always takes batches over. A brine master does so only if its help says
// so.
func TestMasterRunsBatches(t *testing.T) {
	for _, tt := range []struct {
		name string
		help *payload.Map // nil: no control socket
		want bool
	}{{"salt", nil, true}, {"brine", payload.M("tree", true), false},
		{"brine with batches", payload.M("tree", true, control.Batches, true), true}} {
		t.Run(tt.name, func(t *testing.T) {
			r := tooltest.MustOpen(t, saltParser, "", "*", "test.ping")
			if tt.help != nil {
				h := control.Handlers{}
				control.On(h, func(context.Context, control.GetHelp) (*payload.Map, error) { return tt.help, nil })
				controltest.Serve(t, r.Master.SockDir, h)
			}
			b := &batchRun{saltTool: &saltTool{Session: r.Session}}
			if got := b.masterRunsBatches(t.Context()); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
