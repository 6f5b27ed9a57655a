package attack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"brine/wire/client"
	"brine/wire/zmq"
)

// relay is somebody between a minion and the publish port: all publications pass through, and are written down.
type relay struct {
	port int
	pub  *zmq.Pub
	mu   sync.Mutex
	seen [][]byte
}

// relay listens on a port of its own.
func (s *site) relay() *relay {
	s.t.Helper()
	r := &relay{port: s.port()}
	r.pub = zmq.NewPub(zmq.PubOptions{Endpoint: zmq.BindEndpoint("127.0.0.1", r.port), HWM: 1000, Context: s.zctx})
	if err := r.pub.Open(); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	sub := zmq.NewSub(zmq.SubOptions{Endpoint: zmq.ConnectEndpoint("127.0.0.1", s.pub, "", 0), Topics: []string{""},
		Context: s.zctx})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = sub.Serve(ctx, func(frame []byte) { // ends with its context
			r.mu.Lock()
			defer r.mu.Unlock()
			r.seen = append(r.seen, frame)
			_ = r.pub.Send(frame) // nobody may listen
		})
	}()
	s.t.Cleanup(func() { cancel(); <-done; _ = r.pub.Close() })
	return r
}

// replay sends all that has passed once more.
func (r *relay) replay() (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, frame := range r.seen {
		err = errors.Join(err, r.pub.Send(frame))
	}
	return len(r.seen), err
}

// TestReplay: a publication that was recorded on the way is run once, also when the minion has forgotten all that a
// process can forget.
func TestReplay(t *testing.T) {
	const id = "victim"
	s := newSite(t, "")
	r, ran := s.relay(), s.path("ran")
	conf := fmt.Sprintf("publish_port: %d\n", r.port)
	answers := func() {
		t.Helper()
		s.eventually("the minion behind the relay", func() error {
			got, err := s.run(second(), client.Job{Tgt: id, Fun: "test.ping"})
			if err == nil && got[id] == nil {
				err = errors.New("no return")
			}
			return err
		})
	}
	d := s.startMinion(id, conf)
	answers()
	for _, job := range []client.Job{
		{Tgt: id, Fun: "cmd.run", Arg: []any{"echo once >> " + ran}},
		{Tgt: id, Fun: "cmd.run", Arg: []any{"echo named >> " + ran}, JID: "nightly"},
	} {
		if got, err := s.run(patience, job); err != nil || got[id] == nil {
			t.Fatalf("%v, %v", got, err)
		}
	}
	for _, end := range []struct {
		name string
		do   func()
	}{{"in the same process", func() {}}, {"stopped", d.stop}, {"killed", func() {
		s.minions[id].kill()
	}}, {"cache cleared", func() {
		if got, err := s.run(patience, client.Job{Tgt: id, Fun: "saltutil.clear_cache"}); err != nil || got[id] == nil {
			t.Fatalf("%v, %v", got, err)
		}
		s.minions[id].kill()
	}}} {
		ready := func() int { return strings.Count(s.logOf(s.minions[id]), "Minion is ready to receive requests!") }
		before := ready()
		if end.do(); !s.minions[id].running() {
			s.startMinion(id, conf)
			s.eventually("the minion again", func() error { // no job may come before the recorded ones
				if ready() == before {
					return errors.New("it is not ready")
				}
				return nil
			})
		}
		if n, err := r.replay(); n == 0 || err != nil {
			t.Fatalf("%d publications, %v", n, err)
		}
		answers() // behind all that was replayed
		text, err := os.ReadFile(ran)
		if err != nil || strings.Count(string(text), "once") != 1 || strings.Count(string(text), "named") != 1 {
			t.Errorf("%s: ran %q, %v", end.name, text, err)
		}
	}
	s.good()
}
