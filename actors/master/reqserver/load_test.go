package reqserver

import (
	"fmt"
	"testing"
	"time"

	"brine/wire/payload"
)

// TestTurnAway: a client is told at once, a minion asks the next master.
func TestTurnAway(t *testing.T) {
	for _, tt := range []struct {
		name  string
		frame []byte
		told  bool
	}{
		{"clear", clearFrame(payload.CmdPing), true},
		{"sign-in", clearFrame(payload.CmdAuth), false},
		{"sealed", mustPack(payload.M("enc", payload.EncAES, "load", []byte("x"))), false},
		{"garbage", []byte("\xc1"), false},
	} {
		var got []string
		told := turnAway(&HandleRequest{Frame: tt.frame, Reply: func(b []byte) { got = append(got, string(b)) }})
		want := "[]"
		if tt.told {
			want = fmt.Sprint([]string{string(msgNotBegun)})
		}
		if fmt.Sprint(got) != want || told != tt.told {
			t.Errorf("%s: told %v, got %q", tt.name, told, got)
		}
	}
}

// TestRefusedRequestDoesNotBegin: one that nobody had looked at when the socket closed waits for the next ReqServer,
// which leaves it alone.
func TestRefusedRequestDoesNotBegin(t *testing.T) {
	l := &load{}
	var refused []string
	requests := [2]*HandleRequest{}
	for i := range requests {
		m := &HandleRequest{Frame: clearFrame(payload.CmdPublish), At: time.Now()}
		m.Reply = func(frame []byte) {
			if l.end(m) {
				refused = append(refused, string(frame))
			}
		}
		requests[i] = m
	}
	if !l.begin(requests[0]) {
		t.Error("a request is not taken")
	}
	if n := l.refuse(); n != 1 || fmt.Sprint(refused) != fmt.Sprint([]string{string(msgNotBegun)}) ||
		l.begin(requests[1]) {
		t.Errorf("%d refused: %q", n, refused)
	}
	(&reqServer{}).onHandleRequest(nil, requests[0]) // it would need lanes for more
	if len(refused) != 1 {
		t.Errorf("answered %d times", len(refused))
	}
	requests[1].begun.Store(true)
	if !turnAway(requests[1]) || refused[1] != string(msgCutOff) {
		t.Errorf("of one in a worker's hand: %q", refused)
	}
}

// clearFrame is a request of a client.
func clearFrame(cmd string) []byte {
	return mustPack(payload.M("enc", payload.EncClear, "load", payload.M("cmd", cmd), "version", 3))
}
