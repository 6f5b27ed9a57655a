package master

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/transport"
)

// badSocket fails as it is told, or hangs until it is closed.
type badSocket struct {
	port
	failures *atomic.Int64
	hangs    chan struct{} // told that Publish hangs; nil: it does not
	closed   chan struct{}
}

func (b *badSocket) Close() error {
	close(b.closed)
	return nil
}

func (b *badSocket) Publish(to transport.To, sealed []byte) error {
	if b.failures.Add(-1) >= 0 {
		if b.hangs != nil {
			b.hangs <- struct{}{}
			<-b.closed
		}
		return errors.New("bad socket")
	}
	return b.port.Publish(to, sealed)
}

// TestPublicationOutlivesThePublisher: one that a Publisher dies of, or has in hand when it is restarted, is sent by
// the next; what kills two is lost, which is said, and the others are sent.
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
			log, failures, sent := actortest.NewLog(), &atomic.Int64{}, make(chan sentJob, 10)
			failures.Store(tt.failures)
			book := newBook(ledger.Limits{})
			c := &publications{record: &record{book: book}, log: log.Logger()}
			book.Begin(ledger.Job{JID: "1"})
			s := actortest.Start(t, supervisor.Options{})
			c.publisher = actortest.Add(t, s, supervisor.Spec{Name: "Publisher", OnLost: c.lost,
				New: func() supervisor.Actor {
					open := func() transport.Publisher {
						return &badSocket{port: port{sent: sent}, failures: failures, hangs: tt.hangs,
							closed: make(chan struct{})}
					}
					seal := func(load *payload.Map) ([]byte, error) { return []byte(load.Str("jid")), nil }
					return &publisher{opt: publisherOptions{open: open, seal: seal, record: c.record, log: c.log}}
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
			} else if got := actortest.Wait(t, "publication", sent); got.Sealed != "1" {
				t.Errorf("sent %v", got)
			}
			c.publisher.Send(&PublishJob{Job: *payload.NewJob(payload.M("jid", "2"))})
			if got := actortest.Wait(t, "another publication", sent); got.Sealed != "2" {
				t.Errorf("sent %v", got)
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

// TestPublisherTells: the ReqServer is told of every publication, and what it cannot be told is noted all the same.
func TestPublisherTells(t *testing.T) {
	server, book := actortest.NewProbe(), newBook(ledger.Limits{})
	s := actortest.Start(t, supervisor.Options{})
	told := actortest.Add(t, s, supervisor.Spec{Name: nameReqServer, New: server.New})
	sock := &port{sent: make(chan sentJob, 10)}
	ref := actortest.Add(t, s, supervisor.Spec{Name: "Publisher", New: func() supervisor.Actor {
		return &publisher{opt: publisherOptions{open: func() transport.Publisher {
			return sock
		}, record: &record{book: book}, log: discard(),
			server: func() *supervisor.Ref { return told },
			seal: func(load *payload.Map) ([]byte, error) {
				if load.Has("bad") {
					return nil, errors.New("bad job")
				}
				return []byte("sealed"), nil
			}}}
	}})
	for _, jid := range []string{"1", "2", "3"} {
		book.Begin(ledger.Job{JID: jid})
	}
	ref.Send(&PublishJob{Job: *payload.NewJob(payload.M("jid", "1", "bad", true))})
	ref.Send(&PublishJob{Job: *payload.NewJob(payload.M("jid", "2"))})
	if m := actortest.Expect[*PublishRefused](t, server); m.JID != "1" || m.Why.Error() != "bad job" ||
		!m.Sealed.IsZero() {
		t.Errorf("told %+v", m)
	} else if book.Snapshot("1").Job.Failed != "" {
		t.Error("the ledger knows before the ReqServer does")
	} else if m.note(); book.Snapshot("1").Job.Failed != "bad job" {
		t.Errorf("the ledger says %+v", book.Snapshot("1").Job)
	}
	if m := actortest.Expect[*JobPublished](t, server); m.JID != "2" || m.Sealed.IsZero() || m.Sent.Before(m.Sealed) {
		t.Errorf("told %+v", m)
	}
	s.Done(nameReqServer)
	until(t, "end of the ReqServer", func() bool { return len(s.Snapshot()) == 1 })
	ref.Send(&PublishJob{Job: *payload.NewJob(payload.M("jid", "3"))})
	until(t, "note of a publication", func() bool { return book.Snapshot("3").Job.Sent != 0 })
}

// TestPublishRefused: a running master notes what its Publisher could not seal.
func TestPublishRefused(t *testing.T) {
	r := newRig(t)
	book := r.m.core.book
	book.Begin(ledger.Job{JID: someJID})
	r.m.core.publications.publisher.Send(&PublishJob{Job: *payload.NewJob(payload.M("jid", someJID, "arg",
		make(chan int)))})
	until(t, "note of a refusal", func() bool { return book.Snapshot(someJID).Job.Failed != "" })
}

// until polls what no message tells.
func until(t *testing.T, what string, seen func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !seen(); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not seen: " + what)
		}
	}
}
