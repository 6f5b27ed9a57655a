package netapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// TestRoom: one address has half of the room at most, others find some, and what leaves makes room.
func TestRoom(t *testing.T) {
	enter := func(r *Room, from string) (n int) {
		for n < 1000 && r.Enter(from) {
			n++
		}
		return n
	}
	r := &Room{Most: 64}
	if evil, honest, next := enter(r, "203.0.113.9"), enter(r, "198.51.100.1"), enter(r, "198.51.100.2"); evil != 32 ||
		honest != 8 || next != 8 {
		t.Errorf("one has %d, another %d, the next %d", evil, honest, next)
	}
	if enter(r, "203.0.113.9") != 0 {
		t.Error("the first has more")
	}
	for i := range 100 {
		enter(r, fmt.Sprint("2001:db8::", i)) // one network
	}
	if r.all != 56 {
		t.Errorf("%d are taken", r.all)
	}
	for from, n := range map[string]int{"203.0.113.9": 32, "198.51.100.1": 8, "198.51.100.2": 8, "2001:db8::7": 8} {
		for range n {
			r.Leave(from)
		}
	}
	if r.all != 0 || len(r.from) != 0 {
		t.Errorf("left: %d, %v", r.all, r.from)
	}
	set := &Room{Most: 64, Each: 40, Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	if proxy, one := enter(set, "127.0.0.1"), enter(set, "198.51.100.1"); proxy != 56 || one != 8 {
		t.Errorf("a proxy has %d, another %d", proxy, one)
	}
	if one := enter(&Room{Most: 64, Each: 40}, "127.0.0.1"); one != 40 {
		t.Errorf("with a bound of 40 one has %d", one)
	}
	if small := (&Room{Most: 1}); enter(small, "a") != 1 || enter(small, "b") != 0 {
		t.Error("a room for one")
	}
}

// TestBehindProxies: only who is trusted says for whom he asks, and nobody says it of himself.
func TestBehindProxies(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::1/128")}
	for _, tt := range []struct {
		peer    string
		headers []string
		want    string
	}{
		{"10.0.0.1:5", []string{"203.0.113.9"}, "203.0.113.9"},
		{"10.0.0.1:5", nil, "10.0.0.1"},
		{"203.0.113.9:5", []string{"198.51.100.1"}, "203.0.113.9"},
		// the first is the client's own word
		{"10.0.0.1:5", []string{"198.51.100.1, 203.0.113.9"}, "203.0.113.9"},
		{"10.0.0.1:5", []string{"198.51.100.1", "203.0.113.9, 10.2.3.4"}, "203.0.113.9"}, // two proxies
		{"10.0.0.1:5", []string{"198.51.100.1, 10.2.3.4", "203.0.113.9"}, "203.0.113.9"}, // a proxy that he names
		{"10.0.0.1:5", []string{"203.0.113.9, evil"}, "10.0.0.1"},                        // who cannot be read
		{"10.0.0.1:5", []string{"203.0.113.9:4711"}, "203.0.113.9"},                      // with a port
		{"10.0.0.1:5", []string{"[2001:db8::7]:4711"}, "2001:db8::7"},                    //
		{"[2001:db8::1]:5", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},               //
		{"[::ffff:10.0.0.1]:5", []string{"fe80::1%eth0"}, "fe80::1"},                     //
		{"10.0.0.1:5", []string{"10.0.0.7"}, "10.0.0.7"},                                 // a proxy that asks itself
		{"10.0.0.1:5", []string{", , ,"}, "10.0.0.1"},                                    //
	} {
		var got, from string
		h := BehindProxies(proxies, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got, from = r.RemoteAddr, From(r.Context())
		}))
		r := httptest.NewRequestWithContext(WithFrom(t.Context(), "peer"), "GET", "/", nil)
		r.RemoteAddr = tt.peer
		r.Header["X-Forwarded-For"] = tt.headers
		h.ServeHTTP(httptest.NewRecorder(), r)
		addr, err := netip.ParseAddrPort(got)
		if err != nil || addr.Addr().Unmap().String() != tt.want || from != "peer" && from != tt.want {
			t.Errorf("%s, %q: %s, %s, want %s", tt.peer, tt.headers, got, from, tt.want)
		}
	}
}
