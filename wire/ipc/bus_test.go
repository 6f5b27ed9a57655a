package ipc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

// newPub serves a pub socket; connected receives every new subscriber.
func newPub(t *testing.T, opt PubOptions) (s *PubServer, connected, gone chan *Subscriber) {
	t.Helper()
	if opt.Path == "" {
		opt.Path = sock(t)
	}
	connected, gone = make(chan *Subscriber, 16), make(chan *Subscriber, 16)
	opt.OnConnect = func(sub *Subscriber) { connected <- sub }
	opt.OnDisconnect = func(sub *Subscriber) { gone <- sub }
	s = NewPubServer(opt)
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	serve(t, opt.Path, s.Serve)
	return s, connected, gone
}

func subscribe(t *testing.T, s *PubServer, f Framing) *Subscription {
	t.Helper()
	sub, err := Subscribe(within(t), s.Addr(), f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Close() })
	return sub
}

func TestPubToMany(t *testing.T) {
	const subscribers, events = 5, 2000
	for _, f := range []Framing{FramingPlain, FramingLength} {
		s, connected, _ := newPub(t, PubOptions{Framing: f})
		s.Publish(body(-1)) // without subscribers
		var subs []*Subscription
		for range subscribers {
			subs = append(subs, subscribe(t, s, FramingDetect))
			receive(t, "subscriber", connected)
		}
		for i := range events {
			s.Publish(body(i))
		}
		ctx := within(t)
		for n, sub := range subs {
			for i := range events {
				tag, data, err := sub.Next(ctx)
				if err != nil || tag != fmt.Sprint("tag/", i) || data.Len() != 0 {
					t.Fatalf("subscriber %d event %d: %s, %v", n, i, tag, err)
				}
			}
		}
		for _, st := range s.Subscribers() {
			if st.Dropped != 0 || st.Peer.UID != os.Getuid() || st.Since.IsZero() {
				t.Errorf("stats: %+v", st)
			}
		}
	}
}

// TestPubToTheJustConnected: an event reaches a subscriber that connected before it, even if the server has not run
// since.
func TestPubToTheJustConnected(t *testing.T) {
	for _, path := range []string{"", "tcp://127.0.0.1:0"} {
		s, connected, gone := newPub(t, PubOptions{Path: path})
		ctx := within(t)
		_ = subscribe(t, s, FramingPlain)
		receive(t, "the first", connected) // from now on the server runs
		for i := range 200 {
			sub := subscribe(t, s, FramingPlain)
			s.Publish(body(i))
			if tag, _, err := sub.Next(ctx); err != nil || tag != fmt.Sprint("tag/", i) {
				t.Fatalf("subscriber %d: %q, %v", i, tag, err)
			}
			if err := sub.Close(); err != nil {
				t.Error(err)
			}
			receive(t, "connected", connected)
			receive(t, "gone", gone)
		}
	}
}

func TestPubOverTCP(t *testing.T) {
	s, connected, _ := newPub(t, PubOptions{Path: "tcp://127.0.0.1:0"})
	sub := subscribe(t, s, FramingPlain)
	receive(t, "subscriber", connected).Send(body(7))
	if tag, _, err := sub.Next(within(t)); err != nil || tag != "tag/7" {
		t.Errorf("%s, %v", tag, err)
	}
}

// TestSlowSubscriber lets one subscriber sleep: publishing never waits, this subscriber loses events, the others lose
// none.
func TestSlowSubscriber(t *testing.T) {
	const size, events = 64 << 10, 200
	s, connected, gone := newPub(t, PubOptions{QueueBytes: 20 << 20, WriteTimeout: time.Minute})
	sleeper := dial(t, s.Addr())
	slow := receive(t, "sleeper", connected)
	slow.mu.Lock()
	slow.maxBytes = 4 * size
	slow.mu.Unlock()
	reader := subscribe(t, s, FramingDetect)
	receive(t, "reader", connected)

	big := bytes.Repeat([]byte("x"), size)
	for range events {
		s.Publish(big)
	}
	for i := range events {
		if b, err := reader.NextBody(within(t)); err != nil || len(b) != size {
			t.Fatalf("event %d: %d bytes, %v", i, len(b), err)
		}
	}
	st := slow.Stats()
	if st.Dropped == 0 || st.Dropped != s.Dropped() || st.Queued > 5 || st.Bytes > 5*size {
		t.Errorf("the sleeper: %+v, dropped %d", st, s.Dropped())
	}
	_ = sleeper.Close()
	if receive(t, "disconnect", gone) != slow {
		t.Error("the wrong one is gone")
	}
	if s.Dropped() != st.Dropped || len(s.Subscribers()) != 1 {
		t.Errorf("after it has gone: dropped %d, %d subscribers", s.Dropped(), len(s.Subscribers()))
	}
}

func TestQueueDropsOldest(t *testing.T) {
	for _, tt := range []struct {
		frames, bytes int
		send          []string
		want          string
		dropped       uint64
	}{
		{10, 100, []string{"a", "b"}, "ab", 0},
		{2, 100, []string{"a", "b", "c"}, "bc", 1},
		{10, 4, []string{"aa", "bb", "c"}, "bbc", 1},
		{10, 4, []string{"aa", "bb", "eeee"}, "eeee", 2},
		{10, 4, []string{"longer"}, "longer", 0}, // over the limit, but alone in the queue
		{10, 4, []string{"longer", "b"}, "b", 1},
	} {
		s := &Subscriber{maxFrames: tt.frames, maxBytes: tt.bytes, wake: make(chan struct{}, 1)}
		lost := false
		for _, f := range tt.send {
			lost = !s.send([]byte(f)) || lost
		}
		out, _ := s.take(nil)
		if st := s.Stats(); string(out) != tt.want || st.Dropped != tt.dropped || lost != (tt.dropped > 0) ||
			st.Bytes != 0 {
			t.Errorf("%q: %q, %+v, want %q", tt.send, out, st, tt.want)
		}
	}
}

// TestWriteTimeout disconnects a subscriber that never reads.
func TestWriteTimeout(t *testing.T) {
	s, connected, gone := newPub(t, PubOptions{WriteTimeout: 30 * time.Millisecond})
	conn := dial(t, s.Addr())
	sub := receive(t, "subscriber", connected)
	for range 10 {
		s.Publish(make([]byte, 1<<20))
	}
	if receive(t, "disconnect", gone) != sub || len(s.Subscribers()) != 0 {
		t.Error("it is still there")
	}
	if _, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Logf("the peer sees %v", err)
	}
}

// TestHangup: the server notices that a subscriber has left, even without a publication.
func TestHangup(t *testing.T) {
	s, connected, gone := newPub(t, PubOptions{})
	conn := dial(t, s.Addr())
	receive(t, "subscriber", connected)
	if _, err := conn.Write(bytes.Repeat([]byte("noise"), 1000)); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	receive(t, "disconnect", gone)
	dial(t, s.Addr())
	receive(t, "subscriber", connected).Close() // our side closes it
	receive(t, "disconnect", gone)
}

func TestSubscriptionEnds(t *testing.T) {
	s, connected, _ := newPub(t, PubOptions{})
	sub := subscribe(t, s, FramingDetect)
	peer := receive(t, "subscriber", connected)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errStop)
	if _, err := sub.NextBody(ctx); !errors.Is(err, errStop) {
		t.Errorf("ended context: %v", err)
	}
	peer.Send([]byte("no event"))
	peer.Send(body(1))
	if tag, _, err := sub.Next(within(t)); err != nil || tag != "tag/1" || sub.Malformed() != 1 {
		t.Errorf("%s, %v, %d passed over", tag, err, sub.Malformed())
	}
	peer.Close()
	if _, _, err := sub.Next(within(t)); !errors.Is(err, io.EOF) {
		t.Errorf("after the bus has gone: %v", err)
	}
	_ = sub.Close()
	if _, err := sub.NextBody(within(t)); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	full := subscribe(t, s, FramingDetect)
	peer = receive(t, "subscriber", connected)
	for i := range 3 * readAhead {
		peer.Send(body(i))
	}
	if _, _, err := full.Next(within(t)); err != nil {
		t.Error(err)
	}
	_ = full.Close() // while its goroutine waits for free space
}

func newPull(t *testing.T) (*PullServer, chan []byte) {
	t.Helper()
	s := NewPullServer(PullOptions{Path: sock(t)})
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	got := make(chan []byte, 10_000)
	serve(t, s.Addr(), func(ctx context.Context) error { return s.Serve(ctx, func(b []byte) { got <- b }) })
	return s, got
}

func TestPull(t *testing.T) {
	const senders, events = 4, 500
	s, got := newPull(t)
	var wg sync.WaitGroup
	for n := range senders {
		wg.Go(func() {
			p := NewPusher(s.Addr(), Framing(n%2))
			defer p.Close()
			for i := range events {
				if err := p.Push(within(t), fmt.Appendf(nil, "%d %d", n, i)); err != nil {
					t.Errorf("push: %v", err)
					return
				}
			}
		})
	}
	next := make([]int, senders)
	for range senders * events {
		var n, i int
		if _, err := fmt.Sscan(string(receive(t, "event", got)), &n, &i); err != nil || next[n] != i {
			t.Fatalf("sender %d: event %d, want %d, %v", n, i, next[n], err)
		}
		next[n]++
	}
	wg.Wait()
	if bodies, rejected := s.Counts(); bodies != senders*events || rejected != 0 {
		t.Errorf("counts %d, %d", bodies, rejected)
	}
}

// TestPullHostile has senders that stop in the middle, send rubbish or nothing. An honest sender still gets through.
func TestPullHostile(t *testing.T) {
	s, got := newPull(t)
	dial(t, s.Addr())
	for _, b := range []string{"\x82\xa4he", "\x07\xff\xff\xff\x82"} {
		if _, err := dial(t, s.Addr()).Write([]byte(b)); err != nil {
			t.Fatal(err)
		}
	}
	rubbish := dial(t, s.Addr())
	if _, err := rubbish.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(rubbish); err != nil {
		t.Logf("the sender of rubbish sees %v", err)
	}
	p := NewPusher(s.Addr(), FramingLength)
	defer p.Close()
	if err := p.Push(within(t), body(1)); err != nil {
		t.Fatal(err)
	}
	if b := receive(t, "event", got); !bytes.Equal(b, body(1)) {
		t.Errorf("got %q", b)
	}
	if _, rejected := s.Counts(); rejected != 1 {
		t.Errorf("%d rejected", rejected)
	}
}

// TestPusherReconnects survives a restart of the bus.
func TestPusherReconnects(t *testing.T) {
	path := sock(t)
	p := NewPusher(path, FramingLength)
	defer p.Close()
	if err := p.Push(within(t), body(0)); err == nil {
		t.Error("pushed to nobody")
	}
	for i := range 3 {
		s := NewPullServer(PullOptions{Path: path})
		if err := s.Listen(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		got, ended := make(chan []byte, 1), make(chan error, 1)
		go func() { ended <- s.Serve(ctx, func(b []byte) { got <- b }) }()
		if err := p.Push(within(t), body(i)); err != nil {
			t.Errorf("round %d: %v", i, err)
		}
		if b := receive(t, "event", got); !bytes.Equal(b, body(i)) {
			t.Errorf("round %d: %q", i, b)
		}
		cancel(errStop)
		receive(t, "end", ended)
	}
}

// TestPusherGivesUp ends with its context when the bus does not read.
func TestPusherGivesUp(t *testing.T) {
	path := sock(t)
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	p := NewPusher(path, FramingLength)
	defer p.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := p.Push(ctx, make([]byte, 16<<20)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("push: %v", err)
	}
	if err := p.Push(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("push with an ended context: %v", err)
	}
}

func BenchmarkPublish(b *testing.B) {
	connected := make(chan struct{}, 1)
	s := NewPubServer(PubOptions{Path: b.TempDir() + "/s", OnConnect: func(*Subscriber) { connected <- struct{}{} }})
	if err := s.Listen(); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	sub, err := Subscribe(ctx, s.Addr(), FramingPlain)
	if err != nil {
		b.Fatal(err)
	}
	<-connected
	event := make([]byte, 300)
	b.ReportAllocs()
	for b.Loop() {
		s.Publish(event)
		if _, err := sub.NextBody(ctx); err != nil {
			b.Fatal(err)
		}
	}
	_ = sub.Close()
	cancel()
	<-ended
}

func TestPublishYoung(t *testing.T) {
	s, connected, _ := newPub(t, PubOptions{})
	old := subscribe(t, s, FramingPlain)
	since := receive(t, "the old subscriber", connected).Stats().Since
	young := subscribe(t, s, FramingPlain)
	receive(t, "the young subscriber", connected)
	if n := s.PublishYoung(body(1), since); n != 1 {
		t.Errorf("sent to %d subscribers, want 1", n)
	}
	s.Publish(body(2))
	for name, tt := range map[string]struct {
		sub  *Subscription
		want []byte
	}{"old": {old, body(2)}, "young": {young, body(1)}} {
		if got, err := tt.sub.NextBody(within(t)); err != nil || string(got) != string(tt.want) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, tt.want)
		}
	}
}
