package zmq

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/pebbe/zmq4"

	"brine/wire/transport"
)

func TestRequestReply(t *testing.T) {
	for _, tt := range []struct {
		name    string
		payload []byte
	}{
		{"empty", nil},
		{"short", []byte("x")},
		{"binary", []byte{0, 1, 0xff, 0}},
		{"1 MiB", bytes.Repeat([]byte("ab"), 1<<19)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, stop := startRouter(t, RouterOptions{Endpoint: anyPort}, echo)
			q := newReq(t, ReqOptions{Endpoint: r.Addr()})
			for range 2 {
				got, err := q.Do(testContext(t), tt.payload)
				if err != nil || !bytes.Equal(got, tt.payload) {
					t.Fatalf("Do: got %d bytes, %v, want the %d sent", len(got), err, len(tt.payload))
				}
			}
			stop() // the peer may have a reply before it is counted
			if s := r.Stats(); s.Received != 2 || s.Replied != 2 {
				t.Errorf("Stats: got %+v, want 2 received and replied", s)
			}
		})
	}
}

func TestIPv6(t *testing.T) {
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip("no IPv6 on this machine")
	} else {
		l.Close()
	}
	r, _ := startRouter(t, RouterOptions{Endpoint: "tcp://[::1]:0", IPv6: true}, echo)
	q := newReq(t, ReqOptions{Endpoint: r.Addr()})
	if got, err := q.Do(testContext(t), []byte("six")); err != nil || string(got) != "six" {
		t.Errorf("Do: got %q, %v", got, err)
	}
}

func TestSourceAddress(t *testing.T) {
	peers := make(chan Event, 10)
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort, OnEvent: func(e Event) { peers <- e }}, echo)
	target := strings.TrimPrefix(r.Addr(), "tcp://")
	q := newReq(t, ReqOptions{Endpoint: "tcp://127.0.0.2:0;" + target})
	if _, err := q.Do(testContext(t), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if e := receive(t, "connection", peers); !strings.HasPrefix(e.Peer, "127.0.0.2:") {
		t.Errorf("connection from %q, want 127.0.0.2", e.Peer)
	}
}

// TestIdentities: identities of libzmq are five bytes; 3006.28 minions set a text; the longest is 255 bytes.
func TestIdentities(t *testing.T) {
	peers := make(chan string, 1)
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort}, func(r *Router, m transport.Request) {
		peers <- string(m.Peer.(*peer).identity)
		echo(r, m)
	})
	for _, identity := range []string{
		"", "i", "salt-req/minion/web1/4711/0", strings.Repeat("w", 255), "\xff\xfe\x00z",
	} {
		q := newReq(t, ReqOptions{Endpoint: r.Addr(), Identity: identity})
		if _, err := q.Do(testContext(t), []byte("x")); err != nil {
			t.Fatalf("identity of %d bytes: %v", len(identity), err)
		}
		got := receive(t, "identity", peers)
		if identity == "" && (len(got) != 5 || got[0] != 0) || identity != "" && got != identity {
			t.Errorf("identity: got %q, want %q", got, identity)
		}
	}
}

// TestIdentityTakeover: a minion that returns under its old identity gets the replies; the half-dead connection does
// not.
func TestIdentityTakeover(t *testing.T) {
	requests := make(chan transport.Request, 10)
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort}, func(r *Router, m transport.Request) {
		if string(m.Payload) == "hold" {
			requests <- m
			return
		}
		echo(r, m)
	})
	first := newReq(t, ReqOptions{Endpoint: r.Addr(), Identity: "salt-req/minion/web1/1/1"})
	ctx, cancel := context.WithCancel(testContext(t))
	firstDone := make(chan error, 1)
	go func() {
		_, err := first.Do(ctx, []byte("hold"))
		firstDone <- err
	}()
	held := receive(t, "first request", requests)
	second := newReq(t, ReqOptions{Endpoint: r.Addr(), Identity: "salt-req/minion/web1/1/1"})
	for i := range 3 {
		want := fmt.Sprint("again ", i)
		got, err := second.Do(testContext(t), []byte(want))
		if err != nil || string(got) != want {
			t.Fatalf("request %d of the new connection: got %q, %v", i, got, err)
		}
	}
	if err := held.Answer([]byte("late")); err != nil {
		t.Errorf("reply to the identity that moved: %v", err)
	}
	cancel()
	if err := <-firstDone; !errors.Is(err, context.Canceled) {
		t.Errorf("old connection: got %v, want context.Canceled", err)
	}
	awaitInput(t, second) // a late reply cannot be told from the reply to the running request
	if got, err := second.Do(testContext(t), []byte("last")); err != nil || string(got) != "last" {
		t.Errorf("a stray reply answered the next request: got %q, %v", got, err)
	}
}

func TestReplyErrors(t *testing.T) {
	r, stop := startRouter(t, RouterOptions{Endpoint: anyPort}, echo)
	if err := r.reply([]byte("nobody"), []byte("x")); !errors.Is(err, transport.ErrNoPeer) {
		t.Errorf("unknown peer: got %v, want transport.ErrNoPeer", err)
	}
	stop()
	if err := r.reply([]byte("nobody"), []byte("x")); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("after the end: got %v, want transport.ErrClosed", err)
	}
	if s := r.Stats(); s.Lost != 2 || s.Replied != 0 {
		t.Errorf("Stats: got %+v, want 2 lost", s)
	}
}

// TestMalformed: the shapes of wire.md 9 are all dropped, and none disturbs the next request.
func TestMalformed(t *testing.T) {
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort}, echo)
	c := newContext(t)
	raw, err := c.socket(zmq4.DEALER)
	if err != nil {
		t.Fatal(err)
	}
	defer c.release(raw)
	if err := errors.Join(raw.SetLinger(0), raw.Connect(r.Addr()), raw.SetRcvtimeo(patience)); err != nil {
		t.Fatal(err)
	}
	shapes := [][]string{
		{"payload"},
		{""},
		{"", "", "payload"},
		{"", "payload", "extra"},
		{"not empty", "payload"},
		{"", "a", "b", "c", "d", "e", "f", "g", "h", "i"},
	}
	for _, shape := range append(shapes, []string{"", "good"}) {
		if _, err := raw.SendMessage(shape); err != nil {
			t.Fatal(err)
		}
	}
	got, err := raw.RecvMessage(0)
	if err != nil || len(got) != 2 || got[1] != "good" {
		t.Errorf("reply: got %q, %v, want the one to the good request", got, err)
	}
	if s := r.Stats(); s.Malformed != uint64(len(shapes)) || s.Received != 1 {
		t.Errorf("Stats: got %+v, want %d malformed", s, len(shapes))
	}
}

func TestPortTaken(t *testing.T) {
	r, stop := startRouter(t, RouterOptions{Endpoint: samePort(t)}, echo)
	other := NewRouter(RouterOptions{Endpoint: r.Addr()})
	if err := other.Listen(); err == nil || !strings.Contains(err.Error(), r.Addr()) {
		t.Errorf("Listen on a taken port: got %v, want an error that names it", err)
	}
	addr := r.Addr()
	stop()
	// The port is free as soon as Serve has returned: a restarted actor binds it again.
	for range 5 {
		again := NewRouter(RouterOptions{Endpoint: addr})
		if err := again.Listen(); err != nil {
			t.Fatal(err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShutdownIsQuick: the end of the context wakes a waiting reader before the safety time is over.
func TestShutdownIsQuick(t *testing.T) {
	r := NewRouter(RouterOptions{Endpoint: anyPort})
	r.sock.safety = noSafety
	if err := r.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Serve(ctx, func(m transport.Request) { echo(r, m) }) }()
	q := newReq(t, ReqOptions{Endpoint: r.Addr()})
	if _, err := q.Do(testContext(t), []byte("x")); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := receive(t, "end of Serve", ended); err != context.Canceled {
		t.Errorf("Serve: got %v, want context.Canceled", err)
	}
}

// TestStrangers: connections that send nothing, stop in the middle of the greeting, or speak another protocol.
func TestStrangers(t *testing.T) {
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort}, echo)
	p, subs := openPub(t, PubOptions{Endpoint: anyPort})
	for i := range 100 {
		for _, addr := range []string{r.Addr(), p.Addr()} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(addr, "tcp://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			greetings := []string{
				"", "\xff", "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f", "GET / HTTP/1.1\r\n\r\n",
				strings.Repeat("\xff", 4096), "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x00NULL" + strings.Repeat(
					"\xff", 200),
			}
			if _, err := conn.Write([]byte(greetings[i%len(greetings)])); err != nil {
				t.Fatal(err)
			}
		}
	}
	q := newReq(t, ReqOptions{Endpoint: r.Addr()})
	got := make(chan string, 1)
	startSub(t, SubOptions{Endpoint: p.Addr()}, func(f [][]byte) { got <- string(f[0]) })
	receive(t, "subscription", subs)
	for range 100 {
		if _, err := q.Do(testContext(t), []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := p.Send([]byte("job")); err != nil {
			t.Fatal(err)
		}
		receive(t, "publication", got)
	}
	if n := len(subs); n != 0 {
		t.Errorf("%d subscriptions of strangers", n)
	}
}
