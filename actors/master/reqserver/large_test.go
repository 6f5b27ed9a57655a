package reqserver

import "testing"

// TestLargeRequests: large requests of unknown senders have a part of the room, small ones all of it.
func TestLargeRequests(t *testing.T) {
	const most = 256 << 20
	l := &load{}
	first := &HandleRequest{big: true}
	if !l.room(200<<20, most) {
		t.Error("one large request alone is refused")
	}
	if l.room(1<<20, most) {
		t.Error("there is room beside it")
	}
	l.leave(&HandleRequest{big: true}, 1<<20)
	if !l.room(bigRequest, most) {
		t.Error("a small one is refused")
	}
	l.leave(first, 200<<20) // its sender is known
	l.leave(first, 200<<20) // it is answered
	if n := l.large.Load(); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
	for range 64 {
		if !l.room(1<<20, most) {
			t.Fatal("no room for a quarter")
		}
	}
	if l.room(1<<20, most) {
		t.Error("room for more than a quarter")
	}
}
