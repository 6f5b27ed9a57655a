package zmq

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"brine/wire/transport"
)

// rawSub is a subscriber that sends arbitrary bytes.
type rawSub struct {
	net.Conn
	t testing.TB
}

// dialSub connects to a publish port and greets it as libzmq does, in version 3.0 of its protocol.
func dialSub(t testing.TB, endpoint string) rawSub {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(endpoint, "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	r := rawSub{c, t}
	greeting := make([]byte, 64)
	greeting[0], greeting[9], greeting[10] = 0xff, 0x7f, 3
	copy(greeting[12:], "NULL")
	r.write(greeting)
	if _, err := io.ReadFull(c, make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	ready := "\x05READY" + "\x0bSocket-Type\x00\x00\x00\x03SUB" + "\x08Identity\x00\x00\x00\xff" + strings.Repeat("i",
		255)
	r.write(append(binary.BigEndian.AppendUint64([]byte{6}, uint64(len(ready))), ready...))
	return r
}

func (r rawSub) write(b []byte) {
	r.t.Helper()
	if _, err := r.Write(b); err != nil {
		r.t.Fatal(err)
	}
}

// subFrame is a message that begins (1) or ends (0) a subscription.
func subFrame(what byte, topic string) []byte {
	b := binary.BigEndian.AppendUint64([]byte{2}, uint64(len(topic)+1))
	return append(append(b, what), topic...)
}

// ends waits until the other side has closed the connection.
func (r rawSub) ends() {
	r.t.Helper()
	_ = r.SetReadDeadline(time.Now().Add(patience))
	for b := make([]byte, 4096); ; {
		if _, err := r.Read(b); err != nil {
			if os.IsTimeout(err) {
				r.t.Fatal("the connection is still there")
			}
			return
		}
	}
}

// flood sends up to n messages until the other side closes the connection. It returns how many it could send.
func (r rawSub) flood(n int, message func(i int) []byte) (sent int) {
	var b []byte
	for i := range n {
		if b = append(b, message(i)...); len(b) > 1<<15 || i == n-1 {
			_ = r.SetWriteDeadline(time.Now().Add(patience))
			if _, err := r.Write(b); err != nil {
				return i
			}
			b = b[:0]
		}
	}
	return n
}

func residentBytes(t testing.TB) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("nobody tells the memory of this process")
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// TestSubscribersAreBounded: a peer that sends more messages, or longer ones, than a minion does is cut. It costs
// little memory and delays no publication.
func TestSubscribersAreBounded(t *testing.T) {
	topic := strings.Repeat("x", maxTopic-8)
	for name, attack := range map[string]func(r rawSub){
		"a topic of 20 MiB": func(r rawSub) {
			r.flood(1, func(int) []byte { return subFrame(1, strings.Repeat("x", 20<<20)) })
		},
		"many topics": func(r rawSub) {
			r.flood(1_000_000, func(i int) []byte { return subFrame(1, fmt.Sprintf("%08d%s", i, topic)) })
		},
		"one topic too long": func(r rawSub) {
			r.flood(200, func(int) []byte { return subFrame(1, strings.Repeat("x", maxTopic+1)) })
		},
		"many ends":        func(r rawSub) { r.flood(1_000_000, func(int) []byte { return subFrame(0, "") }) },
		"the same topic":   func(r rawSub) { r.flood(1_000_000, func(int) []byte { return subFrame(1, "") }) },
		"no subscriptions": func(r rawSub) { r.flood(1_000_000, func(int) []byte { return subFrame(7, "hello") }) },
		"a forged length":  func(r rawSub) { r.write(binary.BigEndian.AppendUint64([]byte{2}, 1<<40)) },
		"a forged property": func(r rawSub) {
			r.write(append([]byte{4, 200}, "\x05READY\x0bSocket-Type\x7f\xff\xff\xff"...))
			_ = r.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, subs := openPub(t, PubOptions{Endpoint: anyPort})
			startSub(t, SubOptions{Endpoint: p.Addr()}, func([][]byte) {})
			receive(t, "subscription", subs)
			before := residentBytes(t)
			stop, held := make(chan struct{}), make(chan time.Duration)
			go func() { held <- longestSend(p, stop) }()
			for range 3 {
				r := dialSub(t, p.Addr())
				attack(r)
				r.ends()
			}
			close(stop)
			if d := receive(t, "sender", held); d > 5*time.Second { // on a busy machine other work takes its share
				t.Errorf("a publication was held up for %v", d)
			}
			if grown := (residentBytes(t) - before) >> 20; grown > 600 {
				// the attacker and the race detector take part of it
				t.Errorf("%d MB more", grown)
			}
			if n := len(subs); n > 20_000 { // these were in the buffers at the time of the cut
				t.Errorf("the owner was told of %d subscriptions", n)
			}
		})
	}
}

// longestSend publishes without subscribers, and returns the longest time of one publication.
func longestSend(p *Pub, stop chan struct{}) (longest time.Duration) {
	for {
		select {
		case <-stop:
			return longest
		case <-time.After(time.Millisecond):
			began := time.Now()
			if err := p.Send([]byte("x")); err != nil {
				return time.Hour
			}
			longest = max(longest, time.Since(began))
		}
	}
}

// TestSubscriptionsOfAConnection: every subscription has the number of its connection, except the one that libzmq ends
// itself.
func TestSubscriptionsOfAConnection(t *testing.T) {
	claims, conns := make(chan transport.Subscription, 100), make(chan transport.Connection, 100)
	p := NewPub(PubOptions{Endpoint: anyPort, Audience: transport.Audience{
		Connection:   func(c transport.Connection) { conns <- c },
		Subscription: func(s transport.Subscription) bool { claims <- s; return false }}})
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	a := dialSub(t, p.Addr())
	one := receive(t, "connection", conns)
	b := dialSub(t, p.Addr())
	two := receive(t, "connection", conns)
	if !one.Up || !two.Up || one.Conn == two.Conn || one.Peer != a.LocalAddr().String() ||
		two.Peer != b.LocalAddr().String() {
		t.Fatalf("connections %+v and %+v", one, two)
	}
	a.write(subFrame(1, "a\x00\xff"))
	want := transport.Subscription{Topic: "a\x00\xff", Begin: true, Conn: one.Conn}
	if got := receive(t, "subscription", claims); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	b.write(subFrame(0, "a\x00\xff")) // it has no such subscription
	want = transport.Subscription{Topic: "a\x00\xff", Conn: two.Conn}
	if got := receive(t, "an end that is claimed", claims); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	_ = a.Close()
	want = transport.Subscription{Topic: "a\x00\xff"}
	if got := receive(t, "the end", claims); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	down := transport.Connection{Conn: one.Conn, Peer: one.Peer}
	if got := receive(t, "the end of the connection", conns); got != down {
		t.Errorf("got %+v", got)
	}
}

// TestVouchedTopics: a connection may have more topics for each one that is vouched for.
func TestVouchedTopics(t *testing.T) {
	const minions = 100
	known := func(s transport.Subscription) bool { return strings.HasPrefix(s.Topic, "known") }
	p, subs := openPub(t, PubOptions{Endpoint: anyPort, Audience: transport.Audience{Subscription: known}})
	r := dialSub(t, p.Addr())
	for i := range minions {
		for _, kind := range []string{"known", "", "other"} {
			r.write(subFrame(1, fmt.Sprint(kind, i)))
		}
	}
	for range 3 * minions {
		receive(t, "subscription", subs)
	}
	if s := p.Stats(); s.Cut != 0 {
		t.Errorf("%+v", s)
	}
	r.flood(10_000, func(i int) []byte { return subFrame(1, fmt.Sprint(i)) })
	r.ends()
}

// TestLateTopics: messages of an earlier connection that are read when its descriptor belongs to another one do not get
// the other one cut. Its own messages do.
func TestLateTopics(t *testing.T) {
	conns := make(chan transport.Connection, 10)
	p := NewPub(PubOptions{Endpoint: anyPort, Audience: transport.Audience{
		Connection: func(c transport.Connection) { conns <- c }}})
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r := dialSub(t, p.Addr())
	receive(t, "connection", conns)
	p.mu.Lock()
	fd := slices.Collect(maps.Keys(p.peers))[0]
	p.mu.Unlock()
	for i := range 10_000 {
		p.onFrames([][]byte{[]byte(strconv.Itoa(fd)), fmt.Appendf(nil, "\x01late %d", i)})
	}
	if s := p.Stats(); s.Cut != 0 {
		t.Fatalf("%+v", s)
	}
	r.flood(10_000, func(i int) []byte { return subFrame(1, fmt.Sprint("own ", i)) })
	r.ends()
	if s := p.Stats(); s.Cut != 1 {
		t.Errorf("%+v", s)
	}
}

// TestDescriptorOfTwo: a connection ends and the next one gets its descriptor. In any order of both connections' events
// and subscriptions, the second one is up in the end, and its subscription is its own.
func TestDescriptorOfTwo(t *testing.T) {
	events := []string{"first came", "first ended", "second came"}
	words := []string{"first says", "second says"}
	orders := 0
	for _, order := range merges(merges([][]string{nil}, events), words) {
		for at := range len(order) + 1 { // the kernel gives the descriptor to another connection
			steps := slices.Insert(slices.Clone(order), at, "given away")
			if slices.Index(steps, "second came") < at || slices.Index(steps, "second says") < at {
				continue
			}
			orders++
			t.Run(strings.Join(steps, ", "), func(t *testing.T) { playDescriptor(t, steps) })
		}
	}
	if orders < 15 {
		t.Errorf("%d orders", orders)
	}
}

// merges gives all ways to interleave more with the steps of each list, both in their order.
func merges(lists [][]string, more []string) (all [][]string) {
	var merge func(done, a, b []string)
	merge = func(done, a, b []string) {
		if len(a)+len(b) == 0 {
			all = append(all, slices.Clone(done))
			return
		}
		if len(a) > 0 {
			merge(append(slices.Clone(done), a[0]), a[1:], b)
		}
		if len(b) > 0 {
			merge(append(slices.Clone(done), b[0]), a, b[1:])
		}
	}
	for _, l := range lists {
		merge(nil, l, more)
	}
	return all
}

// playDescriptor plays one order of events for a descriptor that two connections have in turn.
func playDescriptor(t *testing.T, steps []string) {
	first, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	second, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range append(first[:], second[:]...) {
		defer func() { _ = unix.Close(fd) }()
	}
	fd := first[0]
	up, said := map[uint64]bool{}, map[string]uint64{}
	p := NewPub(PubOptions{Audience: transport.Audience{
		Connection: func(c transport.Connection) {
			if up[c.Conn] == c.Up {
				t.Errorf("told twice: %+v", c)
			}
			up[c.Conn] = c.Up
		},
		Subscription: func(s transport.Subscription) bool { said[s.Topic] = s.Conn; return true },
	}})
	do := map[string]func(){
		"given away": func() {
			if err := unix.Dup3(second[0], fd, unix.O_CLOEXEC); err != nil {
				t.Fatal(err)
			}
		},
		"first came":  func() { p.onEvent(Event{Connected, "192.0.2.1:1", fd}) },
		"first ended": func() { p.onEvent(Event{Disconnected, "192.0.2.1:1", fd}) },
		"second came": func() { p.onEvent(Event{Connected, "192.0.2.2:1", fd}) },
		"first says":  func() { p.onFrames([][]byte{[]byte(strconv.Itoa(fd)), []byte("\x01first")}) },
		"second says": func() { p.onFrames([][]byte{[]byte(strconv.Itoa(fd)), []byte("\x01second")}) },
	}
	for _, step := range steps {
		do[step]()
	}
	var open []uint64
	for conn, is := range up {
		if is {
			open = append(open, conn)
		}
	}
	if len(open) != 1 || said["second"] != open[0] {
		t.Errorf("open %v; the second one's subscription was of %d", open, said["second"])
	}
}

// TestComeAndGo: while connections come and go, the subscriptions of the others stay with their connections.
func TestComeAndGo(t *testing.T) {
	var mu sync.Mutex
	up, of := map[uint64]bool{}, map[string]uint64{}
	p := NewPub(PubOptions{Endpoint: anyPort, Audience: transport.Audience{
		Connection: func(c transport.Connection) {
			mu.Lock()
			defer mu.Unlock()
			if up[c.Conn] = true; !c.Up {
				delete(up, c.Conn)
			}
		},
		Subscription: func(s transport.Subscription) bool {
			mu.Lock()
			defer mu.Unlock()
			if s.Begin {
				of[s.Topic] = s.Conn
			}
			return true
		}}})
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var stays, all sync.WaitGroup
	for i := range 8 {
		stays.Add(1)
		all.Go(func() {
			for j := range 50 {
				r := dialSub(t, p.Addr())
				r.write(subFrame(1, fmt.Sprint("goes ", i, j)))
				_ = r.Close()
			}
			r := dialSub(t, p.Addr())
			r.write(subFrame(1, fmt.Sprint("stays ", i)))
			stays.Done()
			stays.Wait()
		})
	}
	all.Wait()
	deadline := time.Now().Add(patience)
	for {
		mu.Lock()
		open, unknown := len(up), 0
		for i := range 8 {
			if conn, said := of[fmt.Sprint("stays ", i)]; !said || !up[conn] {
				unknown++
			}
		}
		mu.Unlock()
		if open == 8 && unknown == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d connections, %d are not known", open, unknown)
		}
		<-time.After(time.Millisecond)
	}
}
