package zmq

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"brine/wire/transport"
)

// heldGuard is a guard that reads the memory of libzmq from the tallies, whatever else this process does.
func heldGuard(most int64) (g *Guard, ended chan Ended) {
	ended = make(chan Ended, 1000)
	g = NewGuard(GuardOptions{MaxBytes: most, OnEnded: func(e Ended) { ended <- e }})
	g.opt.memory = func() (sum int64, err error) {
		for _, h := range g.holdings() {
			sum += h.bytes
		}
		return sum + int64(g.connections())*connectionBytes, nil
	}
	return g, ended
}

// rawDealer is a peer of a request port that sends arbitrary bytes, from an address of this machine.
func rawDealer(t *testing.T, endpoint, from string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.Dial("tcp", strings.TrimPrefix(endpoint, "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	greeting := make([]byte, 64)
	greeting[0], greeting[9], greeting[10] = 0xff, 0x7f, 3
	copy(greeting[12:], "NULL")
	if _, err := c.Write(append(greeting, "\x04\x1c\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"...)); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 66)
	if _, err := io.ReadFull(c, head); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, head[65])); err != nil {
		t.Fatal(err)
	}
	return c
}

// half sends a part of a request.
func half(t *testing.T, c net.Conn, size, part int) {
	t.Helper()
	b := binary.BigEndian.AppendUint64([]byte{1, 0, 2}, uint64(size))
	go func() { _, _ = c.Write(append(b, make([]byte, part)...)) }() // the other side ends the connection
}

// holds waits until libzmq holds at least least bytes for an address.
func holds(t *testing.T, g *Guard, host string, least int64) {
	t.Helper()
	until(t, "holdings of "+host, func() bool {
		sum := int64(0)
		for _, h := range g.holdings() {
			if h.host == host {
				sum += h.bytes
			}
		}
		return sum >= least
	})
}

// until waits until is returns true.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !is(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// TestGuardHalves: among peers with unfinished messages unknown ones go first, even if a known one holds more. A peer
// that finishes its messages stays.
func TestGuardHalves(t *testing.T) {
	g, ended := heldGuard(1 << 40) // the limit is out of reach until all messages are there
	defer g.watch(newTally(false))()
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort, Guard: g}, func(r *Router, m transport.Request) {
		if string(m.Payload) == "known" {
			m.Vouch()
		}
		_ = m.Answer(m.Payload)
	})
	honest := newReq(t, ReqOptions{Endpoint: r.Addr()})
	for i := range 50 {
		if _, err := honest.Do(testContext(t), make([]byte, i*i*i)); err != nil {
			t.Fatal(err)
		}
	}
	known := rawDealer(t, r.Addr(), "127.0.0.2")
	if _, err := known.Write([]byte("\x01\x00\x00\x05known")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(known, make([]byte, 9)); err != nil {
		t.Fatal(err)
	}
	half(t, known, 16<<20, 8<<20)
	holds(t, g, "127.0.0.2", 8<<20-handshake)
	for range 3 {
		half(t, rawDealer(t, r.Addr(), "127.0.0.3"), 16<<20, 4<<20)
	}
	holds(t, g, "127.0.0.3", 12<<20-3*handshake)
	over := func(most int64) []holding { return choose(g.holdings(), 20<<20-most, true) }
	if got := over(19 << 20); len(got) != 1 || got[0].host != "127.0.0.3" {
		t.Errorf("first goes %v", got)
	}
	for _, h := range over(1 << 20) {
		if h.known || !h.end() {
			t.Errorf("%s, known %v", h.peer, h.known)
		}
	}
	until(t, "the end of strangers", func() bool { return len(g.holdings()) == 1 })
	if got := over(1 << 20); len(got) != 1 || got[0].peer != known.LocalAddr().String() || got[0].bytes > 9<<20 {
		t.Errorf("last goes %v", got)
	}
	if _, err := honest.Do(testContext(t), []byte("x")); err != nil {
		t.Error(err)
	}
	if n := len(ended); n != 0 {
		t.Errorf("%d were ended by the guard itself", n)
	}
}

// TestGuardEnds: at both ports, the guard itself ends peers that hold too much, and no others.
func TestGuardEnds(t *testing.T) {
	g, ended := heldGuard(6 << 20)
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort, Guard: g}, func(r *Router, m transport.Request) {
		_ = m.Answer(bytes.Repeat(m.Payload, 1<<10))
	})
	p, subs := openPub(t, PubOptions{Endpoint: anyPort, Guard: g})
	got := make(chan []byte, 10)
	startSub(t, SubOptions{Endpoint: p.Addr()}, func(f [][]byte) { got <- f[0] })
	receive(t, "subscription", subs)
	q := newReq(t, ReqOptions{Endpoint: r.Addr()})
	wellAfter := func(who net.Conn) {
		t.Helper()
		if e := receive(t, "end of a connection", ended); e.Peer != who.LocalAddr().String() || e.Known ||
			e.Bytes < 1<<20 {
			t.Errorf("ended %+v, want %s", e, who.LocalAddr())
		}
		if _, err := q.Do(testContext(t), []byte("x")); err != nil {
			t.Error(err)
		}
		if err := p.Send([]byte("job")); err != nil || string(receive(t, "publication", got)) != "job" {
			t.Errorf("publish: %v", err)
		}
	}
	a := rawDealer(t, r.Addr(), "127.0.0.1")
	half(t, a, 16<<20, 8<<20)
	wellAfter(a)
	b := rawDealer(t, r.Addr(), "127.0.0.1")
	go func() { _, _ = b.Write(bytes.Repeat([]byte{1, 0}, 5<<20)) }() // empty frames with MORE
	wellAfter(b)
	c := dialSub(t, p.Addr())
	go func() { _, _ = c.Write(bytes.Repeat([]byte{1, 0}, 5<<20)) }()
	wellAfter(c)
	d := rawDealer(t, r.Addr(), "127.0.0.1") // sends requests and reads no answers
	long := append(binary.BigEndian.AppendUint64([]byte{1, 0, 2}, 32<<10), make([]byte, 32<<10)...)
	if _, err := d.Write(long); err != nil {
		t.Fatal(err)
	}
	wellAfter(d)
	if s := g.Stats(); s.Ended != 4 || s.EndedKnown != 0 {
		t.Errorf("%+v", s)
	}
}

// TestGuardDeafSubscriber: a subscriber that does not read publications is ended when it holds too much.
func TestGuardDeafSubscriber(t *testing.T) {
	g, ended := heldGuard(16 << 20)
	p, subs := openPub(t, PubOptions{Endpoint: anyPort, Guard: g})
	var took int
	done := make(chan bool)
	const publications = 100
	startSub(t, SubOptions{Endpoint: p.Addr()}, func([][]byte) {
		if took++; took == publications {
			close(done)
		}
	})
	receive(t, "subscription", subs)
	deaf := dialSub(t, p.Addr())
	deaf.write(subFrame(1, ""))
	receive(t, "subscription", subs)
	for range publications {
		if err := p.Send(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	for {
		if e := receive(t, "end of a connection", ended); e.Peer == deaf.LocalAddr().String() {
			break
		} // the other one may be slow too: both are unknown
	}
}

// TestTallyIsEven: nothing is held for a peer that finishes its messages and reads everything, whatever the messages
// are, and even if descriptors are reused.
func TestTallyIsEven(t *testing.T) {
	g, _ := heldGuard(1 << 40)
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort, Guard: g}, func(r *Router, m transport.Request) {
		_ = m.Answer(m.Payload)
	})
	for range 10 {
		q := NewReq(ReqOptions{Endpoint: r.Addr(), Identity: strings.Repeat("i", 255)})
		for _, size := range []int{0, 1, 255, 256, 1 << 10, 1 << 13, 1 << 16, 1 << 22} {
			if _, err := q.Do(testContext(t), make([]byte, size)); err != nil {
				t.Fatal(err)
			}
		}
		until(t, "that nothing is held", func() bool { return len(g.holdings()) == 0 && g.connections() == 1 })
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
		until(t, "the end of the connection", func() bool { return g.connections() == 0 })
	}
}

// TestChoose: which connections are ended.
func TestChoose(t *testing.T) {
	fd := 0
	of := func(host string, known bool, bytes int64) holding {
		fd++
		return holding{account: &account{fd: fd, host: host}, known: known, bytes: bytes}
	}
	evil := func(n int, each int64) (all []holding) {
		for range n {
			all = append(all, of("evil", false, each))
		}
		return all
	}
	for _, tt := range []struct {
		name  string
		all   []holding
		over  int64
		quiet bool
		want  string
	}{
		{"nobody", nil, 1 << 30, true, ""},
		{"one of many", evil(10, 1<<20), 1, true, "evil 1048576 false;"},
		{"as many as it takes", evil(10, 1<<20), 2 << 20, true, "evil 1048576 false;evil 1048576 false;"},
		{"the sum decides", append(evil(3, 1<<20), of("b", false, 2<<20)), 1, true, "evil 1048576 false;"},
		{"known ones stay", append(evil(1, 1<<20), of("m", true, 1<<30)), 1 << 40, true, "evil 1048576 false;"},
		{"known ones are last", []holding{of("m", true, 1<<30), of("n", true, 1<<29), of("s", false, 100)}, 1 << 40,
			true, "m 1073741824 true;"},
		{"known ones after a rest", []holding{of("m", true, 1<<30)}, 1 << 40, false, ""},
		{"small ones stay", []holding{of("m", true, 1000), of("s", false, 1000)}, 1 << 40, true, ""},
		{"small beside large", append(evil(1, 1<<20), of("evil", false, 1<<15), of("b", false, 1<<14)), 1 << 40, true,
			"evil 1048576 false;"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			for _, h := range choose(tt.all, tt.over, tt.quiet) {
				got += fmt.Sprintf("%s %d %v;", h.host, h.bytes, h.known)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if n := len(choose(evil(1000, 1<<20), 1<<40, true)); n != endedAtOnce {
		t.Errorf("%d at once", n)
	}
}

// TestLook: if freed memory can be returned to the kernel, no connection ends.
func TestLook(t *testing.T) {
	const most = int64(1 << 30)
	bytes, trims := int64(0), 0
	l := look{guard: NewGuard(GuardOptions{MaxBytes: most}), memory: func() (int64, error) {
		return bytes, nil
	}, trim: func() { trims++; bytes = most / 2 }}
	for _, tt := range []struct {
		bytes int64
		trims int
		wait  time.Duration
	}{{10, 0, guardCalm}, {most/2 + 1, 0, guardCalm / alertTimes}, {most + 1, 1, guardCalm / alertTimes}} {
		bytes = tt.bytes
		if wait := l.take(time.Now()); wait != tt.wait || trims != tt.trims {
			t.Errorf("%d bytes: %d trims, the next look after %v", tt.bytes, trims, wait)
		}
	}
}

// TestNoCredit: bytes counted for an earlier connection with the same descriptor do not hide bytes of this one.
func TestNoCredit(t *testing.T) {
	a := account{}
	a.in.Store(1 << 20)
	if held := a.held(flow{received: 1000}, 0); held != 0 {
		t.Errorf("held %d", held)
	}
	if held := a.held(flow{received: 1000 + handshake + 1<<20}, 0); held != 1<<20 {
		t.Errorf("held %d", held)
	}
}

// TestOutside: the gauge counts memory of C and not memory of Go.
func TestOutside(t *testing.T) {
	if _, err := anonymousPages([]byte("1 x 2")); err == nil {
		t.Error("nonsense is a number")
	}
	if n, err := anonymousPages([]byte("100 90 30 1 0 40 0\n")); n != 60 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	o, err := newOutside()
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	if n, err := o.bytes(); err != nil || n < 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
}
