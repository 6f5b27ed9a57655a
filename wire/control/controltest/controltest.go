// Package controltest is a daemon that has only a control socket: for tests of programs that send requests to one.
package controltest

import (
	"context"
	"errors"
	"os"
	"testing"

	"brine/wire/control"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// Serve answers on the control socket of the daemon whose sockets are in dir, until the test ends. It makes dir if it
// is missing. It refuses a command that is not in h or has another version, like a daemon that does not know it.
func Serve(t *testing.T, dir string, h control.Handlers) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	server := ipc.NewControlServer(ipc.ControlOptions{Path: control.At(dir).Path()})
	if err := server.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(ctx, func(ctx context.Context, _ ipc.Peer, q *payload.Map) (*payload.Map, error) {
			head := control.ReadHead(q)
			if head.Check() != nil || h[head.Command] == nil {
				return control.Refusal(), nil
			}
			got, err := h[head.Command](ctx, q)
			if err != nil {
				return nil, err
			}
			return control.Reply(got), nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-served; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
