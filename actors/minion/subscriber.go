package minion

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"

	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
	"brine/wire/zmq"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of the Subscriber.
type (
	// frameReceived is one message of the publish port.
	frameReceived struct{ frames [][]byte }
	// reopen opens a publication again after a new sign-in.
	reopen struct {
		frame []byte
		err   error
	}
	// linkChanged tells that the connection to the publish port was made or lost.
	linkChanged struct{ up bool }
)

// subscriberOptions are what the Subscriber needs of its connection.
type subscriberOptions struct {
	link       *link
	dispatcher func() *supervisor.Ref
	onLink     func(up bool)
	log        *slog.Logger
}

// subscriber owns the SUB socket of one master: it opens publications and hands jobs to the Dispatcher.
type subscriber struct {
	opt    subscriberOptions
	self   *supervisor.Ref
	port   int                // 0: not connected yet
	cancel context.CancelFunc // ends the socket
	topics []string
}

const topicBroadcast = "broadcast"

func (s *subscriber) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.onStarted(ctx)
	case *SignedIn:
		s.onSignedIn(ctx, m)
	case *frameReceived:
		s.onFrame(ctx, m.frames)
	case *reopen:
		s.onReopen(ctx, m)
	case *linkChanged:
		s.opt.link.connected.Store(m.up)
		s.opt.onLink(m.up)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (s *subscriber) onStarted(ctx actor.Context) {
	s.self = supervisor.Self(ctx)
	if s.opt.link.cfg.ZMQFiltering {
		sum := sha1.Sum([]byte(s.opt.link.cfg.ID))
		s.topics = []string{topicBroadcast, hex.EncodeToString(sum[:])}
	}
	if s.opt.link.auth.SignedIn() { // a new incarnation of a subscriber that was connected
		supervisor.Send(ctx, s.opt.link.authenticator, &SignIn{})
	}
}

// onSignedIn connects, or connects anew when the port is another one.
func (s *subscriber) onSignedIn(ctx actor.Context, m *SignedIn) {
	port := m.PublishPort
	cfg := s.opt.link.cfg
	if cfg.File.Has("publish_port") && cfg.PublishPort != s.opt.link.master.Port { // its default does not count
		port = cfg.PublishPort
	}
	if port == s.port {
		return
	}
	if s.cancel != nil {
		s.cancel()
	}
	s.port = port
	self, l, topics := s.self, s.opt.link, s.topics
	var stop context.Context
	stop, s.cancel = context.WithCancel(supervisor.Context(ctx))
	supervisor.Go(ctx, "publish socket", func(context.Context) error {
		return subscribe(stop, l, port, topics, self)
	})
}

// subscribe receives until ctx ends.
func subscribe(ctx context.Context, l *link, port int, topics []string, to *supervisor.Ref) error {
	addr, err := l.resolve(ctx)
	if err != nil {
		return err
	}
	c := l.cfg
	ivl := c.ReconDefault
	if c.ReconRandomize {
		ivl = between(c.ReconDefault, c.ReconDefault+c.ReconMax)
	}
	sub := zmq.NewSub(zmq.SubOptions{
		Endpoint: zmq.ConnectEndpoint(addr, port, c.SourceAddress, c.SourcePublishPort), IPv6: c.IPv6, Identity: c.ID, Topics: topics,
		ReconnectIvl: ivl, ReconnectIvlMax: c.ReconDefault + c.ReconMax, Keepalive: l.keepalive(), Context: l.zctx,
		HeartbeatIvl: c.ZMQHeartbeatIvl, HeartbeatTimeout: c.ZMQHeartbeatTimeout,
		OnEvent: func(e zmq.Event) {
			if e.Kind == zmq.Connected || e.Kind == zmq.Disconnected {
				to.Send(&linkChanged{up: e.Kind == zmq.Connected})
			}
		},
	})
	err = sub.Serve(ctx, func(frames [][]byte) { to.Send(&frameReceived{frames: frames}) })
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// onFrame opens one message: one frame, or a topic of ours and a frame.
func (s *subscriber) onFrame(ctx actor.Context, frames [][]byte) {
	frame := frames[len(frames)-1]
	switch {
	case len(frames) == 2 && len(s.topics) > 0 && !slices.Contains(s.topics, string(frames[0])):
		return // another minion's
	case len(frames) > 2:
		supervisor.Failed(ctx)
		return
	}
	load, err := s.opt.link.auth.OpenPublication(frame)
	if errors.Is(err, auth.ErrReauth) || errors.Is(err, auth.ErrNotSignedIn) {
		self := s.self
		supervisor.Send(ctx, s.opt.link.authenticator, &SignIn{Done: func(err error) { self.Send(&reopen{frame, err}) }})
		return
	}
	s.deliver(ctx, load, err)
}

// onReopen opens a publication that came before the new session; it has one chance.
func (s *subscriber) onReopen(ctx actor.Context, m *reopen) {
	if m.err != nil {
		s.deliver(ctx, nil, m.err)
		return
	}
	load, err := s.opt.link.auth.OpenPublication(m.frame)
	s.deliver(ctx, load, err)
}

func (s *subscriber) deliver(ctx actor.Context, load *payload.Map, err error) {
	switch {
	case errors.Is(err, auth.ErrIgnore):
		s.opt.log.Debug("publication ignored", "why", err)
	case err != nil:
		supervisor.Failed(ctx)
		s.opt.log.Error("publication cannot be opened", "err", err)
	default:
		supervisor.Send(ctx, s.opt.dispatcher(), &JobReceived{Load: load, Link: s.opt.link})
	}
}
