package publish

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"brine/actors/master/record"
	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/transport"
)

// Messages of the Publisher: a command comes in, one of two events goes out, to the ReqServer.
type (
	// PublishJob sends one publication to the minions. The publication is in Salt's order, without serial.
	PublishJob struct {
		Job    payload.Job
		Topics []string // ids to address with zmq_filtering; nil addresses everybody
		again  bool     // a Publisher has died of it, or ended with it in hand
	}
	// JobPublished says that a publication is in the queue of the socket.
	JobPublished struct {
		JID          string
		Sealed, Sent time.Time
		record       *record.Record
	}
	// PublishRefused says why a publication is not: it could not be sealed, the socket did not take it, or it is lost.
	// It may be sent once more, which is then said, too.
	PublishRefused struct {
		JID    string
		Sealed time.Time // zero: it never was
		Why    error
		record *record.Record
	}
)

// publishOutcome is either event. The record takes it: in the ReqServer, or in whoever finds that there is none to
// tell.
type publishOutcome interface {
	Lost(error)
	Tell()
}

// Tell notes when the publication was sent.
func (m *JobPublished) Tell() { m.record.Sent(m.JID, m.Sealed, m.Sent, nil) }

// Tell notes why it was not.
func (m *PublishRefused) Tell() { m.record.Sent(m.JID, m.Sealed, time.Time{}, m.Why) }

// tellOutcome hands an event to the ReqServer, if there is one.
func tellOutcome(server func() *supervisor.Ref, m publishOutcome) {
	if server != nil {
		if ref := server(); ref != nil {
			ref.Send(m)
			return
		}
	}
	m.Tell()
}

// Lost notes what no incarnation of the ReqServer will.
func (m *JobPublished) Lost(error) { m.Tell() }

// Lost notes what no incarnation of the ReqServer will.
func (m *PublishRefused) Lost(error) { m.Tell() }

// PublisherOptions are what the Publisher needs of the master.
type PublisherOptions struct {
	Open func() transport.Publisher
	Seal func(load *payload.Map) ([]byte, error) // numbers, seals and signs: one packed publication
	// the ReqServer, which is told of every publication; nil, or none: nobody is
	server func() *supervisor.Ref
	record *record.Record // takes what it is told
	Syndic bool           // order_masters: syndics hear everything
	Log    *slog.Logger
}

// Content is the job: sent once more it is the same.
func (m *PublishJob) Content() []byte { return []byte(m.Job.JID()) }

func (m *PublishJob) repeated() *PublishJob {
	return &PublishJob{Job: m.Job, Topics: m.Topics, again: true}
}

// publisher writes sealed jobs to the PUB socket. A restart makes a new value: nothing in it survives.
type publisher struct {
	opt  PublisherOptions
	sock transport.Publisher // nil until onStarted
}

func (p *publisher) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		p.onStarted(ctx)
	case *PublishJob:
		p.onPublishJob(ctx, m)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (p *publisher) onStarted(ctx supervisor.Context) {
	p.sock = p.opt.Open()
	if err := p.sock.Open(); err != nil {
		supervisor.Crash(fmt.Errorf("publisher: %w", err))
	}
	sock := p.sock
	supervisor.Go(ctx, "publish socket", func(ctx context.Context) error {
		<-ctx.Done()
		return errors.Join(context.Cause(ctx), sock.Close()) // the next incarnation binds when this has returned
	})
}

func (p *publisher) onPublishJob(ctx supervisor.Context, m *PublishJob) {
	frame, err := p.opt.Seal(m.Job.Map())
	if err != nil { // the job is bad, the actor is well
		supervisor.Failed(ctx)
		p.opt.Log.Error("publication could not be sealed", "jid", m.Job.JID(), "err", err)
		p.refused(m, time.Time{}, err)
		return
	}
	sealed := time.Now()
	if err := p.sock.Publish(transport.To{IDs: m.Topics, Syndics: p.opt.Syndic}, frame); err != nil {
		p.refused(m, sealed, err)
		if supervisor.Lifetime(ctx).Err() == nil { // the socket is bad: die and be restarted
			supervisor.Crash(fmt.Errorf("publisher: send job %s: %w", m.Job.JID(), err))
		}
		// this incarnation ends, and its socket is closed: the next one sends it, if there is one
		supervisor.Failed(ctx)
		supervisor.Send(ctx, supervisor.Self(ctx), m.repeated())
		return
	}
	tellOutcome(p.opt.server, &JobPublished{JID: m.Job.JID(), Sealed: sealed, Sent: time.Now(), record: p.opt.record})
}

func (p *publisher) refused(m *PublishJob, sealed time.Time, why error) {
	tellOutcome(p.opt.server, &PublishRefused{JID: m.Job.JID(), Sealed: sealed, Why: why, record: p.opt.record})
}
