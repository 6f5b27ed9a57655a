package netapi

import (
	"io"
	"net/netip"
	"testing"
)

// held is a connection of a test.
type held struct{ from string }

func (*held) Close() error { return nil }

// TestGiveWay: the longest at rest gives way, to its own address first, and to another only where there is no place
// left and whose it is has more.
func TestGiveWay(t *testing.T) {
	r := &Room{Most: 64, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}}
	fill := func(from string, n int) (list []*held) {
		for range n {
			if !r.Enter(from) {
				t.Fatalf("%s has no place", from)
			}
			list = append(list, &held{from})
		}
		return list
	}
	want := func(what, from string, c *held) {
		t.Helper()
		if got := r.GiveWay(from); got != c && (got != io.Closer(nil) || c != nil) {
			t.Errorf("%s: %v, want %v", what, got, c)
		}
	}
	rest := func(list ...*held) {
		for _, c := range list {
			r.Rest(c.from, c)
		}
	}
	evil := fill("203.0.113.9", 32)
	want("nobody rests", "203.0.113.9", nil)
	rest(evil[0], evil[0], evil[1])
	r.Wake("203.0.113.9", evil[0])
	want("its own", "203.0.113.9", evil[1])
	others := append(fill("198.51.100.1", 8), fill("198.51.100.2", 8)...)
	rest(evil[2])
	want("who has half beside others", "203.0.113.9", nil)
	want("who has an eighth and none at rest", "198.51.100.1", nil)
	rest(others[0], others[1])
	want("his own", "198.51.100.1", others[0])
	others = append(others, fill("198.51.100.3", 8)...)
	others = append(others, fill("198.51.100.4", 8)...)
	want("a new one beside a full room", "198.51.100.5", evil[2])
	want("a new one where those with most do not rest", "198.51.100.5", others[1])
	want("nobody rests any more", "198.51.100.5", nil)
	rest(others[31])
	r.Leave("198.51.100.1")
	for range 6 {
		r.Leave("198.51.100.4")
	}
	fill("10.0.0.1", 7)
	want("whose it is has no more", "198.51.100.6", others[31])
	rest(others[31])
	r.Leave("198.51.100.4")
	fill("10.0.0.1", 1)
	want("whose it is has one", "198.51.100.6", nil)
	want("a proxy takes from nobody with less", "10.0.0.1", nil)
	r.Wake("198.51.100.4", others[31])
	if len(r.rest.at) != 0 || len(r.rest.of) != 0 {
		t.Errorf("left: %v", r.rest)
	}
}
