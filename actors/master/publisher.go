package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"brine/supervisor"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of the Publisher.
type (
	// PublishJob sends one publication to the minions. The publication is in Salt's order, without serial.
	PublishJob struct {
		Job    payload.Job
		Topics []string // ids to address with zmq_filtering; nil addresses everybody
		again  bool     // a Publisher has died of it, or ended with it in hand
	}
)

// pubSocket is the PUB adapter as the Publisher uses it.
type pubSocket interface {
	Open() error
	Send(frames ...[]byte) error
	Close() error
}

// publisherOptions are what the Publisher needs of the master.
type publisherOptions struct {
	open   func() pubSocket
	seal   func(load *payload.Map) ([]byte, error)             // numbers, seals and signs: one packed publication
	sent   func(jid string, sealed, sent time.Time, err error) // told of every publication; nil: nobody is
	filter bool                                                // zmq_filtering
	syndic bool                                                // order_masters: syndics hear everything
	log    *slog.Logger
}

// Content is the job: sent once more it is the same.
func (m *PublishJob) Content() []byte { return []byte(m.Job.JID()) }

func (m *PublishJob) repeated() *PublishJob {
	return &PublishJob{Job: m.Job, Topics: m.Topics, again: true}
}

// publisher writes sealed jobs to the PUB socket. A restart makes a new value: nothing in it survives.
type publisher struct {
	opt  publisherOptions
	sock pubSocket // nil until onStarted
}

func (p *publisher) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		p.onStarted(ctx)
	case *PublishJob:
		p.onPublishJob(ctx, m)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (p *publisher) onStarted(ctx actor.Context) {
	p.sock = p.opt.open()
	if err := p.sock.Open(); err != nil {
		supervisor.Crash(fmt.Errorf("publisher: %w", err))
	}
	sock := p.sock
	supervisor.Go(ctx, "publish socket", func(ctx context.Context) error {
		<-ctx.Done()
		return errors.Join(context.Cause(ctx), sock.Close()) // the next incarnation binds when this has returned
	})
}

func (p *publisher) onPublishJob(ctx actor.Context, m *PublishJob) {
	frame, err := p.opt.seal(m.Job.Map())
	if err != nil { // the job is bad, the actor is well
		supervisor.Failed(ctx)
		p.opt.log.Error("publication could not be sealed", "jid", m.Job.JID(), "err", err)
		p.note(m, time.Time{}, time.Time{}, err)
		return
	}
	sealed := time.Now()
	for _, topic := range p.topics(m.Topics) {
		if topic == "" {
			err = p.sock.Send(frame)
		} else {
			err = p.sock.Send([]byte(topic), frame)
		}
		if err == nil {
			continue
		}
		p.note(m, sealed, time.Time{}, err)
		if supervisor.Context(ctx).Err() == nil { // the socket is bad: die and be restarted
			supervisor.Crash(fmt.Errorf("publisher: send job %s: %w", m.Job.JID(), err))
		}
		supervisor.Failed(ctx) // this incarnation ends, and its socket is closed: the next one sends it, if there is one
		supervisor.Send(ctx, supervisor.Self(ctx), m.repeated())
		return
	}
	p.note(m, sealed, time.Now(), nil)
}

// note tells what became of a publication.
func (p *publisher) note(m *PublishJob, sealed, sent time.Time, err error) {
	if p.opt.sent != nil {
		p.opt.sent(m.Job.JID(), sealed, sent, err)
	}
}

// topics are the topics one publication is sent under; "" stands for a message of one frame.
func (p *publisher) topics(ids []string) []string {
	switch {
	case !p.opt.filter:
		return []string{""}
	case len(ids) == 0:
		return []string{payload.TopicBroadcast}
	}
	topics := make([]string, 0, len(ids)+1)
	for _, id := range ids {
		topics = append(topics, payload.Topic(id))
	}
	if p.opt.syndic {
		topics = append(topics, payload.TopicSyndic)
	}
	return topics
}
