package loopback

import (
	"net"
	"strconv"
	"testing"
)

func TestReserve(t *testing.T) {
	seen := map[int]bool{}
	for range 200 {
		p, err := Reserve()
		if err != nil {
			t.Fatal(err)
		}
		defer p.Release()
		if seen[p.Number] || p.Number < firstPort || p.Number >= lastPort {
			t.Fatalf("got %d", p.Number)
		}
		seen[p.Number] = true
		if again := try(p.Number); again != nil {
			t.Fatalf("%d was given twice", p.Number)
		}
	}
}

func TestRelease(t *testing.T) {
	p, err := Reserve()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(p.Number))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Release(); err != nil {
		t.Fatal(err)
	}
	if again := try(p.Number); again != nil {
		t.Error("a port that somebody listens on was given")
	}
	l.Close()
	again := try(p.Number)
	if again == nil {
		t.Fatal("a released port is not given again")
	}
	again.Release()
}
