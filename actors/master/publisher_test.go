package master

import (
	"errors"
	"sync/atomic"
	"testing"

	"brine/actors/actortest"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// badSocket fails as it is told, or hangs until it is closed.
type badSocket struct {
	frames
	failures *atomic.Int64
	hangs    chan struct{} // told that Send hangs; nil: it does not
	closed   chan struct{}
}

func (b *badSocket) Close() error {
	close(b.closed)
	return nil
}

func (b *badSocket) Send(parts ...[]byte) error {
	if b.failures.Add(-1) >= 0 {
		if b.hangs != nil {
			b.hangs <- struct{}{}
			<-b.closed
		}
		return errors.New("bad socket")
	}
	return b.frames.Send(parts...)
}

// TestPublicationOutlivesThePublisher: one that a Publisher dies of, or has in hand when it is restarted, is sent by the
// next; what kills two is lost, which is said, and the others are sent.
func TestPublicationOutlivesThePublisher(t *testing.T) {
	for _, tt := range []struct {
		name     string
		failures int64
		hangs    chan struct{}
		lost     bool
		restarts int
	}{
		{"dies once", 1, nil, false, 1},
		{"dies twice", 2, nil, true, 2},
		{"is restarted", 1, make(chan struct{}), false, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log, failures, sent := actortest.NewLog(), &atomic.Int64{}, make(chan [][]byte, 10)
			failures.Store(tt.failures)
			book := newBook(ledger.Limits{})
			c := &publications{record: &record{book: book}, log: log.Logger()}
			book.Begin(ledger.Job{JID: "1"})
			s := actortest.Start(t, supervisor.Options{})
			c.publisher = actortest.Add(t, s, supervisor.Spec{Name: "Publisher", OnLost: c.lost, New: func() actor.Actor {
				open := func() pubSocket {
					return &badSocket{frames: frames{sent: sent}, failures: failures, hangs: tt.hangs, closed: make(chan struct{})}
				}
				seal := func(load *payload.Map) ([]byte, error) { return []byte(load.Str("jid")), nil }
				return &publisher{opt: publisherOptions{open: open, seal: seal, sent: c.record.sent, log: c.log}}
			}})
			c.publisher.Send(&PublishJob{Job: *payload.NewJob(payload.M("jid", "1"))})
			if tt.hangs != nil {
				actortest.Wait(t, "hanging socket", tt.hangs)
				if err := s.Restart("Publisher"); err != nil {
					t.Fatal(err)
				}
			}
			if tt.lost {
				log.Await(t, "publication is lost")
			} else if got := actortest.Wait(t, "publication", sent); string(got[0]) != "1" {
				t.Errorf("sent %q", got)
			}
			c.publisher.Send(&PublishJob{Job: *payload.NewJob(payload.M("jid", "2"))})
			if got := actortest.Wait(t, "another publication", sent); string(got[0]) != "2" {
				t.Errorf("sent %q", got)
			}
			if job := book.Snapshot("1").Job; (job.Failed != "") != tt.lost || (job.Sent == 0) != tt.lost {
				t.Errorf("the ledger says %+v", job)
			}
			if c := s.Snapshot()[0]; c.Restarts != tt.restarts || len(sent) > 0 {
				t.Errorf("%d restarts, %d more were sent", c.Restarts, len(sent))
			}
		})
	}
}
