package ipc

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"time"
)

// salts are the framings of the buses of real Salt: pull, pub.
var salts = map[string][2]Framing{
	"3006.9":          {FramingPlain, FramingPlain},
	"3006.28":         {FramingLength, FramingLength},
	"3007.15, 3008.3": {FramingLength, FramingPlain},
}

// TestAskingPusher sends events to the buses of all releases: each comes out once, in order, and nothing else is sent.
func TestAskingPusher(t *testing.T) {
	for name, salt := range salts {
		t.Run(name, func(t *testing.T) {
			b := newSaltBus(t, t.TempDir(), salt[0], salt[1])
			b.start()
			ctx := within(t)
			sub := b.listen(ctx)
			events := [][]byte{body(1), body(2), append(body(3), bytes.Repeat([]byte("x"), 300<<10)...), body(4)}
			for range 5 {
				p := NewAskingPusher(b.pull, b.pub)
				p.patience = time.Minute
				for _, e := range events {
					if err := p.Push(ctx, e); err != nil {
						t.Fatal(err)
					}
				}
				if p.framing != salt[0] {
					t.Errorf("takes %v, want %v", p.framing, salt[0])
				}
				for i, e := range events {
					if got, err := sub.NextBody(ctx); err != nil || !bytes.Equal(got, e) {
						t.Fatalf("event %d: %d bytes, %v", i, len(got), err)
					}
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}
			if n := b.garbage.Load(); n != 0 {
				t.Errorf("the bus got %d times garbage", n)
			}
		})
	}
}

// TestAskingBusy: a bus that always has something to publish does not delay a Pusher.
func TestAskingBusy(t *testing.T) {
	for name, salt := range salts {
		t.Run(name, func(t *testing.T) {
			b := newSaltBus(t, t.TempDir(), salt[0], salt[1])
			b.start()
			ctx, cancel := context.WithCancel(within(t))
			sub := b.listen(ctx)
			done := make(chan struct{})
			go func() {
				defer close(done)
				noise := NewPusher(b.pull, salt[0])
				defer noise.Close()
				for i := 0; noise.Push(ctx, body(1000+i)) == nil && noise.turn(ctx) == nil; i++ {
					continue
				}
			}()
			p := NewAskingPusher(b.pull, b.pub)
			defer p.Close()
			p.patience = time.Minute
			if err := p.Push(ctx, body(1)); err != nil {
				t.Error(err)
			}
			for got := 0; got == 0; {
				e, err := sub.NextBody(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if bytes.Equal(e, body(1)) {
					got++
				}
			}
			cancel()
			<-done
			if n := b.garbage.Load(); n != 0 {
				t.Errorf("the bus got %d times garbage", n)
			}
		})
	}
}

// TestAskingBrine: a brine bus says that it accepts both framings, and its subscribers see no extra event.
func TestAskingBrine(t *testing.T) {
	pull, got := newPull(t)
	pub, connected, _ := newPub(t, PubOptions{})
	for i := range 100 {
		p := NewAskingPusher(pull.Addr(), pub.Addr())
		p.patience = time.Minute
		for n := range 2 {
			if err := p.Push(within(t), body(2*i+n)); err != nil {
				t.Fatal(err)
			}
			if b := receive(t, "event", got); !bytes.Equal(b, body(2*i+n)) {
				t.Fatalf("got %q", b)
			}
		}
		_ = p.Close()
	}
	if n := len(connected); n != 0 {
		t.Errorf("%d subscribers came", n)
	}
	if bodies, rejected := pull.Counts(); bodies != 200 || rejected != 0 {
		t.Errorf("counts %d, %d", bodies, rejected)
	}
}

// TestAskingAnew: after a restart the bus may belong to another release.
func TestAskingAnew(t *testing.T) {
	dir := t.TempDir()
	p := NewAskingPusher(filepath.Join(dir, "pull"), filepath.Join(dir, "pub"))
	p.patience = time.Minute
	defer p.Close()
	for i, takes := range []Framing{FramingPlain, FramingLength, FramingPlain} {
		b := newSaltBus(t, dir, takes, FramingPlain)
		end := b.start()
		ctx := within(t)
		sub := b.listen(ctx)
		if err := p.Push(ctx, body(i)); err != nil {
			t.Fatal(err)
		}
		if got, err := sub.NextBody(ctx); err != nil || !bytes.Equal(got, body(i)) {
			t.Fatalf("event %d: %q, %v", i, got, err)
		}
		if n := b.garbage.Load(); n != 0 {
			t.Errorf("bus %d got %d times garbage", i, n)
		}
		_ = sub.Close()
		end()
	}
}

// TestAskingInVain: a bus that hangs finds the event with its length when it continues. So does a bus that accepts no
// subscribers.
func TestAskingInVain(t *testing.T) {
	still := newSaltBus(t, t.TempDir(), FramingLength, FramingPlain)
	ctx := within(t)
	sub, err := Subscribe(ctx, still.pub, FramingDetect)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	p := NewAskingPusher(still.pull, still.pub)
	p.patience = 10 * time.Millisecond
	defer p.Close()
	if err := p.Push(ctx, body(1)); err != nil {
		t.Fatal(err)
	}
	still.start()
	if got, err := sub.NextBody(ctx); err != nil || !bytes.Equal(got, body(1)) {
		t.Errorf("the bus that stood still: %q, %v", got, err)
	}

	hidden := NewAskingPusher(still.pull, sock(t))
	hidden.patience = time.Minute
	defer hidden.Close()
	if err := hidden.Push(ctx, body(2)); err != nil {
		t.Fatal(err)
	}
	if got, err := sub.NextBody(ctx); err != nil || !bytes.Equal(got, body(2)) {
		t.Errorf("the bus that is hidden: %q, %v", got, err)
	}
	if n := still.garbage.Load(); n != 0 {
		t.Errorf("the bus got %d times garbage", n)
	}
	if err := NewAskingPusher(sock(t), still.pub).Push(ctx, body(3)); err == nil {
		t.Error("pushed to nobody")
	}
}
