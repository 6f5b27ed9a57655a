package zmq

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pebbe/zmq4"
)

// SubOptions are the options of a Sub.
type SubOptions struct {
	Endpoint         string        // see ConnectEndpoint
	IPv6             bool          // option ipv6; an address in brackets sets it by itself
	Identity         string        // the minion id; no effect on what is received
	Topics           []string      // none: everything
	ReconnectIvl     time.Duration // recon_default, or the random value between it and recon_default+recon_max
	ReconnectIvlMax  time.Duration // recon_max
	HWM              int           // messages kept while sink is behind; 0: 1000
	Keepalive        *Keepalive    // options tcp_keepalive...; nil: 1, 300, -1, -1
	HeartbeatIvl     time.Duration // 0 is off, as in Salt
	HeartbeatTimeout time.Duration
	ConnectTimeout   time.Duration // of one attempt; 0: 10 s
	Context          *Context      // nil: one of its own
	OnEvent          func(Event)   // connection made and lost; may be nil
}

// Sub is the client end of the publish port: a SUB socket on one master. libzmq reconnects by itself.
type Sub struct {
	opt       SubOptions
	sock      *socket
	malformed atomic.Uint64
}

// NewSub makes a Sub; nothing is opened yet.
func NewSub(opt SubOptions) *Sub { return &Sub{opt: opt, sock: newSocket(opt.Context)} }

// Serve connects and hands each publication to sink until ctx ends. It then closes and returns context.Cause(ctx). The
// receiver owns the bytes. sink must not block: it posts to a mailbox. A publication is one frame, or a topic and a
// frame. libzmq also delivers topics that only begin like one of the subscription's: these are dropped.
func (s *Sub) Serve(ctx context.Context, sink func(payload []byte)) error {
	all := len(s.opt.Topics) == 0 || slices.Contains(s.opt.Topics, "")
	return s.serveFrames(ctx, func(frames [][]byte) {
		switch {
		case len(frames) > 2:
			s.malformed.Add(1)
		case len(frames) == 1 || all || slices.Contains(s.opt.Topics, string(frames[0])):
			sink(frames[len(frames)-1])
		}
	})
}

// Malformed is the number of messages of more than two frames, which were dropped.
func (s *Sub) Malformed() uint64 { return s.malformed.Load() }

func (s *Sub) serveFrames(ctx context.Context, sink func(frames [][]byte)) error {
	if err := s.sock.open(zmq4.SUB, s.configure, s.opt.OnEvent); err != nil {
		return err
	}
	return s.sock.serve(ctx, sink)
}

func (s *Sub) configure(o *setup) error {
	o.common(0, s.opt.IPv6 || isIPv6(s.opt.Endpoint))
	o.set("rcvhwm", o.raw.SetRcvhwm(orDefault(s.opt.HWM, defaultHWM)))
	if s.opt.Identity != "" {
		o.set("identity", o.raw.SetIdentity(s.opt.Identity))
	}
	topics := s.opt.Topics
	if len(topics) == 0 {
		topics = []string{""}
	}
	for _, topic := range topics {
		o.set("subscribe", o.raw.SetSubscribe(topic))
	}
	o.reconnect(s.opt.ReconnectIvl, s.opt.ReconnectIvlMax)
	o.keepalive(s.opt.Keepalive, plainKeepalive())
	o.heartbeat(s.opt.HeartbeatIvl, s.opt.HeartbeatTimeout)
	return o.connect(s.opt.Endpoint, s.opt.ConnectTimeout)
}
