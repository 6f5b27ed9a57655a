package client

import (
	"context"
	"path/filepath"

	"brine/wire/event"
	"brine/wire/ipc"
)

// socketBus is the bus behind a daemon's sockets, of any release.
type socketBus struct {
	pub    string
	pusher *ipc.Pusher
}

func newSocketBus(opt Options) *socketBus {
	pub, pull := opt.EventPub, opt.EventPull
	if pub == "" {
		pub = filepath.Join(opt.SockDir, event.MasterPubSocket)
	}
	if pull == "" {
		pull = filepath.Join(opt.SockDir, event.MasterPullSocket)
	}
	return &socketBus{pub: pub, pusher: ipc.NewAskingPusher(pull, pub)}
}

func (b *socketBus) Subscribe(ctx context.Context) (Events, error) {
	sub, err := ipc.Subscribe(ctx, b.pub, ipc.FramingDetect)
	if err != nil {
		return nil, err
	}
	return bodies{sub}, nil
}

func (b *socketBus) Push(ctx context.Context, body []byte) error { return b.pusher.Push(ctx, body) }

// bodies is a subscription that is read body by body.
type bodies struct{ *ipc.Subscription }

func (b bodies) Next(ctx context.Context) ([]byte, error) { return b.NextBody(ctx) }
