package link

import (
	"context"
	"sync/atomic"
	"time"

	"brine/supervisor"
	"brine/wire/sealed"
	"brine/wire/transport"
)

// Limits of a requestPool.
const (
	MostReturns    = 32               // returns under way; requests of other kinds find free sockets
	requestSockets = MostReturns + 4  // requests under way to one master
	socketIdle     = 30 * time.Second // after which a socket more than the one is closed
)

// socket is one request socket.
type socket struct {
	transport.RequestClient
	epoch int64
	used  time.Time
}

// requestPool holds the request sockets of one master: each carries one request at a time, and the one used last is
// taken first, so that a quiet minion holds one connection and a busy one as many as it needs.
type requestPool struct {
	clock  supervisor.Clock
	places chan struct{}  // as many as there may be requests under way
	idle   chan []*socket // one list, of the sockets that nobody uses; the one used last is its end
	armed  atomic.Bool    // a look for sockets to close is to come
}

func newRequestPool(n int, clock supervisor.Clock) *requestPool {
	p := &requestPool{clock: clock, places: make(chan struct{}, n), idle: make(chan []*socket, 1)}
	p.idle <- nil
	return p
}

// take waits for a place and gives an idle socket, nil when one is to be opened. put is called afterwards.
func (p *requestPool) take(ctx context.Context) (*socket, error) {
	select {
	case p.places <- struct{}{}:
	case <-ctx.Done():
		return nil, sealed.OutOfTime(ctx)
	}
	list := <-p.idle
	var r *socket
	if n := len(list); n > 0 {
		r, list[n-1] = list[n-1], nil
		list = list[:n-1]
	}
	p.idle <- list
	return r, nil
}

// put gives back a place, and the socket unless it is nil.
func (p *requestPool) put(r *socket) {
	if r != nil {
		r.used = p.clock.Now()
		list := append(<-p.idle, r)
		p.idle <- list
		if len(list) > 1 {
			p.arm(socketIdle)
		}
	}
	<-p.places
}

func (p *requestPool) arm(wait time.Duration) {
	if !p.armed.Swap(true) {
		p.clock.AfterFunc(wait, p.trim)
	}
}

// trim closes what was not used for a while, but for one.
func (p *requestPool) trim() {
	p.armed.Store(false)
	list, old, now := <-p.idle, 0, p.clock.Now()
	for old < len(list)-1 && now.Sub(list[old].used) >= socketIdle {
		old++
	}
	gone := append([]*socket(nil), list[:old]...)
	rest := append([]*socket(nil), list[old:]...)
	p.idle <- rest
	closeAll(gone)
	if len(rest) > 1 {
		p.arm(socketIdle - now.Sub(rest[0].used))
	}
}

// close waits for the requests under way and closes all sockets. There are no requests any more.
func (p *requestPool) close() {
	for range cap(p.places) {
		p.places <- struct{}{}
	}
	list := <-p.idle
	p.idle <- nil
	closeAll(list)
}

func closeAll(list []*socket) {
	for _, r := range list {
		_ = r.Close() // nothing is under way on it
	}
}
