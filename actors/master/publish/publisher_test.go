package publish

import (
	"errors"
	"sync/atomic"
	"testing"

	"brine/actors/actortest"
	"brine/actors/master/record"
	"brine/actors/master/targets"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/transport"

	"github.com/google/go-cmp/cmp"
)

// port collects what a Publisher sends.
type port struct {
	sent chan sentJob
	fail error
}

// sentJob is a sealed publication, and whom it is for.
type sentJob struct {
	To     transport.To
	Sealed string
}

func (p *port) Open() error  { return nil }
func (p *port) Close() error { return nil }
func (p *port) Publish(to transport.To, sealed []byte) error {
	p.sent <- sentJob{to, string(sealed)}
	return p.fail
}

func TestPublisherAddresses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		syndic bool
		ids    []string
	}{
		{"everybody", true, nil},
		{"ids", false, []string{"m1", "m2"}},
		{"ids and syndics", true, []string{"m1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sock := &port{sent: make(chan sentJob, 10)}
			s := actortest.Start(t, supervisor.Options{})
			ref := actortest.Add(t, s, supervisor.Spec{Name: "Publisher", New: func() supervisor.Actor {
				return &publisher{opt: PublisherOptions{Open: func() transport.Publisher {
					return sock
				}, Syndic: tt.syndic, Log: actortest.Discard(),
					record: record.New(record.NewBook(ledger.Limits{}), nil, nil),
					Seal: func(load *payload.Map) ([]byte, error) {
						if load.Has("bad") {
							return nil, errors.New("bad job")
						}
						return []byte("sealed"), nil
					}}}
			}})
			ref.Send(&PublishJob{Job: *payload.NewJob(payload.M("bad", true)), Topics: tt.ids}) // is said and left out
			ref.Send(&PublishJob{Job: *payload.NewJob(payload.M("jid", "20260101000000000001")), Topics: tt.ids})
			want := sentJob{transport.To{IDs: tt.ids, Syndics: tt.syndic}, "sealed"}
			if diff := cmp.Diff(want, actortest.Wait(t, "publication", sock.sent)); diff != "" {
				t.Error(diff)
			}
			for _, c := range s.Snapshot() {
				if c.Failed != 1 || c.Restarts != 0 {
					t.Errorf("failed %d, restarts %d", c.Failed, c.Restarts)
				}
			}
		})
	}
}

// TestFilteredPublication: which targets a filtering master sends to single minions.
func TestFilteredPublication(t *testing.T) {
	p := &Publications{opt: Options{Filter: true}}
	for _, tt := range []struct {
		tgtType string
		want    []string
	}{{"glob", []string{"m1"}}, {"pcre", []string{"m1"}}, {"list", []string{"m1", "zz"}}, {"grain", nil},
		{"compound", nil}, {"", nil}} {
		if got := p.topicIDs(tt.tgtType, targets.Found{Minions: []string{"m1"}, Missing: []string{"zz"}}); !cmp.Equal(got,
			tt.want) {
			t.Errorf("%q: got %q, want %q", tt.tgtType, got, tt.want)
		}
	}
}

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
			book := record.NewBook(ledger.Limits{})
			c := &Publications{record: record.New(book, nil, nil), log: log.Logger()}
			book.Begin(ledger.Job{JID: "1"})
			s := actortest.Start(t, supervisor.Options{})
			c.Publisher = actortest.Add(t, s, supervisor.Spec{Name: "Publisher", OnLost: c.lost,
				New: func() supervisor.Actor {
					open := func() transport.Publisher {
						return &badSocket{port: port{sent: sent}, failures: failures, hangs: tt.hangs,
							closed: make(chan struct{})}
					}
					seal := func(load *payload.Map) ([]byte, error) { return []byte(load.Str("jid")), nil }
					return &publisher{opt: PublisherOptions{Open: open, Seal: seal, record: c.record, Log: c.log}}
				}})
			c.Publisher.Send(&PublishJob{Job: *payload.NewJob(payload.M("jid", "1"))})
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
			c.Publisher.Send(&PublishJob{Job: *payload.NewJob(payload.M("jid", "2"))})
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
	server, book := actortest.NewProbe(), record.NewBook(ledger.Limits{})
	s := actortest.Start(t, supervisor.Options{})
	told := actortest.Add(t, s, supervisor.Spec{Name: "ReqServer", New: server.New})
	sock := &port{sent: make(chan sentJob, 10)}
	ref := actortest.Add(t, s, supervisor.Spec{Name: "Publisher", New: func() supervisor.Actor {
		return &publisher{opt: PublisherOptions{Open: func() transport.Publisher {
			return sock
		}, record: record.New(book, nil, nil), Log: actortest.Discard(),
			server: func() *supervisor.Ref { return told },
			Seal: func(load *payload.Map) ([]byte, error) {
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
	} else if m.Tell(); book.Snapshot("1").Job.Failed != "bad job" {
		t.Errorf("the ledger says %+v", book.Snapshot("1").Job)
	}
	if m := actortest.Expect[*JobPublished](t, server); m.JID != "2" || m.Sealed.IsZero() || m.Sent.Before(m.Sealed) {
		t.Errorf("told %+v", m)
	}
	seen := func(what string, yes func() bool) {
		actortest.Eventually(t, what, func() error {
			if !yes() {
				return errors.New("it is not seen")
			}
			return nil
		})
	}
	s.Done("ReqServer")
	seen("end of the ReqServer", func() bool { return len(s.Snapshot()) == 1 })
	ref.Send(&PublishJob{Job: *payload.NewJob(payload.M("jid", "3"))})
	seen("note of a publication", func() bool { return book.Snapshot("3").Job.Sent != 0 })
}
