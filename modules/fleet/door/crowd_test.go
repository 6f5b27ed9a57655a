package door

import (
	"fmt"
	"testing"
)

// TestCrowd: an address gets half of the room, others still find some, and what leaves makes room.
func TestCrowd(t *testing.T) {
	c := Crowd{MaxRequests: 64, MaxBytes: 6400}
	enter := func(from string, bytes int64) (n int) {
		for n < 1000 && c.Enter(from, bytes) {
			n++
		}
		return n
	}
	if n := enter("evil", 1); n != 32 {
		t.Errorf("one address: %d", n)
	}
	if n := enter("honest", 1); n != 8 {
		t.Errorf("another address: %d", n)
	}
	if n := enter("third", 100); n != 8 {
		t.Errorf("a third: %d", n)
	}
	c.Leave("evil", 1)
	if n := enter("evil", 1); n != 0 {
		t.Errorf("the first again while more than half is taken: %d", n)
	}
	for range 31 {
		c.Leave("evil", 1)
	}
	if n := enter("evil", 1); n != 16 {
		t.Errorf("the first when it has none: %d", n)
	}
	if n := enter("six", 1000); n != 1 {
		t.Errorf("large ones: %d", n)
	}
	for i := range 1000 {
		enter(fmt.Sprint(i), 1)
	}
	if c.all.n > 64 || c.all.bytes > 6400 {
		t.Errorf("%+v", c.all)
	}
	for from, own := range c.from {
		for range own.n {
			c.Leave(from, own.bytes/int64(own.n))
		}
	}
	if c.all.n != 0 || len(c.from) != 0 {
		t.Errorf("left: %+v, %v", c.all, c.from)
	}
	small := Crowd{MaxRequests: 0, MaxBytes: 0}
	if n := enter("x", 0); !small.Enter("x", 1) || small.Enter("x", 1) || n == 0 {
		t.Error("one must always get in")
	}
}

// TestQueue: one address after the other, each in its own order.
func TestQueue(t *testing.T) {
	var q Queue[string]
	for i := range 4 {
		q.Push("evil", fmt.Sprint("e", i))
	}
	q.Push("b", "b0")
	q.Push("2001:db8::1", "s0")
	q.Push("2001:db8::2", "s1")
	q.DeleteFunc(func(s string) bool { return s == "e1" || s == "b0" })
	seen := 0
	q.Each(func(string) { seen++ })
	got := ""
	for q.Len() > 0 {
		got += q.Pop()
	}
	if got != "e0s0e2s1e3" || seen != 5 || len(q.from)+len(q.turns) > 0 {
		t.Errorf("got %s, saw %d, left %v", got, seen, q.from)
	}
}
