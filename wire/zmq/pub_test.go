package zmq

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pebbe/zmq4"

	"brine/wire/transport"
)

func TestPublish(t *testing.T) {
	p, subs := openPub(t, PubOptions{Endpoint: anyPort})
	c := newContext(t)
	all, web, db := make(chan [][]byte, 10), make(chan [][]byte, 10), make(chan [][]byte, 10)
	startSub(t, SubOptions{Endpoint: p.Addr(), Identity: "all", Context: c}, func(f [][]byte) { all <- f })
	receive(t, "subscription", subs)
	startSub(t, SubOptions{Endpoint: p.Addr(), Topics: []string{"broadcast", "web"}, Context: c}, func(f [][]byte) {
		web <- f
	})
	receive(t, "subscription", subs)
	receive(t, "subscription", subs)
	startSub(t, SubOptions{Endpoint: p.Addr(), Topics: []string{"broadcast", "db"}, Context: c}, func(f [][]byte) {
		db <- f
	})
	receive(t, "subscription", subs)
	receive(t, "subscription", subs)
	for _, frames := range [][]string{{"plain"}, {"web", "for web"}, {"broadcast", "for both"}} {
		var parts [][]byte
		for _, f := range frames {
			parts = append(parts, []byte(f))
		}
		if err := p.Send(parts...); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		c    chan [][]byte
		want []string
	}{
		"all": {all, []string{"plain", "web for web", "broadcast for both"}},
		"web": {web, []string{"web for web", "broadcast for both"}},
		"db":  {db, []string{"broadcast for both"}},
	} {
		var got []string
		for range tt.want {
			var words []string
			for _, f := range receive(t, name, tt.c) {
				words = append(words, string(f))
			}
			got = append(got, strings.Join(words, " "))
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if s := p.Stats(); s.Sent != 3 || s.Malformed != 0 {
		t.Errorf("Stats: got %+v, want 3 sent", s)
	}
}

func TestSubscriberCount(t *testing.T) {
	p, subs := openPub(t, PubOptions{Endpoint: anyPort})
	c := newContext(t)
	var stops []func()
	for i := range 5 {
		stops = append(stops, startSub(t, SubOptions{Endpoint: p.Addr(), Context: c}, func([][]byte) {}))
		if got := receive(t, "subscription", subs); got != (subscription{"", i + 1}) {
			t.Fatalf("subscription %d: got %+v", i, got)
		}
	}
	for i, stop := range stops {
		stop()
		if got := receive(t, "end of subscription", subs); got != (subscription{"", 4 - i}) {
			t.Fatalf("end %d: got %+v", i, got)
		}
	}
}

// TestSubReconnects: a minion finds its master again after a restart of the master.
func TestSubReconnects(t *testing.T) {
	addr := samePort(t)
	first, subs := openPub(t, PubOptions{Endpoint: addr})
	events := make(chan Event, 100)
	got := make(chan string, 10)
	startSub(t, SubOptions{
		Endpoint: addr, ReconnectIvl: 10 * time.Millisecond, ReconnectIvlMax: 20 * time.Millisecond,
		OnEvent: func(e Event) { events <- e },
	}, func(f [][]byte) { got <- string(f[0]) })
	receive(t, "subscription", subs)
	if err := first.Send([]byte("one")); err != nil {
		t.Fatal(err)
	}
	if s := receive(t, "publication", got); s != "one" {
		t.Errorf("got %q, want one", s)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, subs := openPub(t, PubOptions{Endpoint: addr})
	receive(t, "subscription", subs)
	if err := second.Send([]byte("two")); err != nil {
		t.Fatal(err)
	}
	if s := receive(t, "publication", got); s != "two" {
		t.Errorf("got %q, want two", s)
	}
	var kinds []EventKind
	for len(kinds) < 3 {
		if e := receive(t, "event", events); e.Kind != Retrying && e.Kind != Refused {
			kinds = append(kinds, e.Kind)
		}
	}
	if d := cmp.Diff([]EventKind{Connected, Disconnected, Connected}, kinds); d != "" {
		t.Error(d)
	}
}

func TestPubClosed(t *testing.T) {
	p, _ := openPub(t, PubOptions{Endpoint: anyPort})
	if err := errors.Join(p.Close(), p.Close()); err != nil {
		t.Fatal(err)
	}
	if err := p.Send([]byte("x")); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Send: got %v, want transport.ErrClosed", err)
	}
	if err := NewPub(PubOptions{}).Close(); err != nil {
		t.Errorf("Close before Open: %v", err)
	}
}

// TestPubMalformed: a message that is not a subscription is dropped.
func TestPubMalformed(t *testing.T) {
	p, subs := openPub(t, PubOptions{Endpoint: anyPort})
	c := newContext(t)
	raw, err := c.socket(zmq4.XSUB)
	if err != nil {
		t.Fatal(err)
	}
	defer c.release(raw)
	if err := errors.Join(raw.SetLinger(0), raw.Connect(p.Addr())); err != nil {
		t.Fatal(err)
	}
	for _, m := range [][]string{{"\x02hello"}, {"hello", "\x01x"}, {"\x01topic"}} {
		if _, err := raw.SendMessage(m); err != nil {
			t.Fatal(err)
		}
	}
	for {
		if s := receive(t, "subscription", subs); s == (subscription{"topic", 1}) {
			break
		}
	}
	if s := p.Stats(); s.Malformed != 2 {
		t.Errorf("Stats: got %+v, want 2 malformed", s)
	}
}

func TestContext(t *testing.T) {
	c, err := NewContext(1)
	if err != nil {
		t.Fatal(err)
	}
	p := NewPub(PubOptions{Endpoint: anyPort, Context: c})
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); !errors.Is(err, ErrContextBusy) {
		t.Errorf("Close under an open socket: got %v, want ErrContextBusy", err)
	}
	if err := errors.Join(p.Close(), c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if err := NewPub(PubOptions{Endpoint: anyPort, Context: c}).Open(); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Open on a closed context: got %v, want transport.ErrClosed", err)
	}
}
