package zmq

import (
	"os"
	"testing"
	"time"
)

// TestWaker tells a wait that ended by its limit from the others.
func TestWaker(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	g, err := newWaker(int(r.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer g.close()
	expect := func(what string, limit time.Duration, want bool) {
		t.Helper()
		if silent, err := g.wait(limit); silent != want || err != nil {
			t.Errorf("%s: %v, %v", what, silent, err)
		}
	}
	expect("nothing comes", time.Millisecond, true)
	g.poke()
	expect("a poke from before", time.Minute, false)
	expect("nothing comes again", time.Millisecond, true)
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	expect("readable", time.Minute, false)
}
