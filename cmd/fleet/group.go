package fleet

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"brine/wire/zmq"
)

// group is the minions that hear one connection to the publish port.
type group struct {
	f         *Fleet
	number    int
	minions   []*emulated
	listening sync.Once
	connected atomic.Bool
	signedIn  atomic.Int64
}

// listen connects to the publish port, when the first minion of the group knows it.
func (g *group) listen(port int) {
	if g.f.opt.PublishPort != 0 {
		port = g.f.opt.PublishPort
	}
	g.listening.Do(func() { g.f.wg.Go(func() { g.hear(port) }) })
}

func (g *group) hear(port int) {
	sub := zmq.NewSub(zmq.SubOptions{
		Endpoint: zmq.ConnectEndpoint(g.f.opt.Host, port, "", 0), Context: g.f.zctx,
		ReconnectIvl: 200 * time.Millisecond, ReconnectIvlMax: 2 * time.Second, OnEvent: g.onEvent,
	})
	if err := sub.Serve(g.f.ctx, g.onPublication); err != nil && g.f.ctx.Err() == nil {
		g.f.fail(fmt.Errorf("hear the publish port: %w", err))
	}
}

func (g *group) onEvent(e zmq.Event) {
	switch e.Kind {
	case zmq.Connected:
		g.connected.Store(true)
	case zmq.Disconnected:
		g.connected.Store(false)
	}
}

// onPublication gives a publication to the minions of the group; it runs in the socket's goroutine.
func (g *group) onPublication(frame []byte) {
	if g.f.held.Load() {
		return
	}
	p := g.f.pubs.find(frame)
	if !p.takenBy(g.number) {
		return // under several topics
	}
	for _, m := range g.minions {
		if m.in.Load() {
			m.take(p)
		}
	}
}
