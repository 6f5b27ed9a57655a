package minion

import (
	"errors"
	"testing"

	"brine/wire/payload"
	"brine/wire/transport"
)

// TestLostConnection loses the connection of requests that the master has carried out: they are made again within the
// same try, the time-outs of Salt do not pass.
func TestLostConnection(t *testing.T) {
	r := newRig(t, "")
	f := r.master()
	f.set(func() {
		f.breaks = map[string]int{payload.CmdAuth: 1, payload.CmdPillar: 1, payload.CmdReturn: 1, "_x": 1}
	})
	r.up()
	r.run(jid(1), "test.ping")
	f.await(t, "second delivery", func() bool { return len(f.returns[jid(1)]) == 2 })
	if _, err := r.m.links[0].Ask(t.Context(), payload.M("cmd", "_x", "id", "m1"), patience, 1); err != nil {
		t.Error(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for cmd, left := range f.breaks {
		if left != 0 {
			t.Errorf("%s lost no connection", cmd)
		}
	}
	if f.signIns != 2 {
		t.Errorf("%d sign-ins, want the lost one and its repetition", f.signIns)
	}
}

// TestLostPublication loses the connection of requests that must not be carried out twice.
func TestLostPublication(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	for _, cmd := range []string{payload.CmdMinionPub, payload.CmdMinionPublish, payload.CmdMinionRunner,
		payload.CmdFileRecv} {
		f.set(func() { f.breaks = map[string]int{cmd: 1} })
		_, err := r.m.links[0].Ask(t.Context(), payload.M("cmd", cmd, "id", "m1"), patience, 3)
		if !errors.Is(err, transport.ErrLost) {
			t.Errorf("%s: got %v, want ErrLost", cmd, err)
		}
		n := 0
		f.mu.Lock()
		for _, q := range f.requests {
			if q.Str("cmd") == cmd {
				n++
			}
		}
		f.mu.Unlock()
		if n != 1 {
			t.Errorf("%s: carried out %d times", cmd, n)
		}
	}
}
