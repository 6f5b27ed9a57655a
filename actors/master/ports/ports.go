// Package ports bounds what the two ports of a master may hold: connections, memory of libzmq, requests. Ports owns the
// guard of the sockets, and counts the connections that were refused. It tells operators by the event bus and the log.
package ports

import (
	"log/slog"
	"net"
	"sync/atomic"

	"brine/actors/master/complaints"
	"brine/actors/master/eventbus"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// Shares of the memory limit, one in so many, where the usual bound is more than that: of requests that wait for their
// answers, and of one message.
const (
	requestShare = 8
	messageShare = 16
)

// What libzmq may hold of both ports for messages that are not whole, and of those that peers do not take: so many
// times what requests may take, and one in so many of the memory limit where that is less.
const (
	heldTimes = 4
	heldShare = 4
	heldMost  = 1 << 50 // bytes; past it all is as good as no bound
)

// tagConnectionEnded tells operators of a connection that was ended because libzmq held too much of it.
const tagConnectionEnded = "brine/connection/ended"

// Ports knows what the two ports may hold, and who was turned away at them.
type Ports struct {
	Guard          *zmq.Guard    // of what libzmq holds at both
	maxConnections int           // of one (max_connections)
	RequestBytes   int64         // of requests that wait for their answers
	MaxMessage     int64         // of one request; 0: the adapter's
	old            atomic.Uint64 // connections that were not let in
	events         *eventbus.Bus
	complaints     *complaints.Log
	log            *slog.Logger
}

// Options are bounds of the configuration, and the memory limit.
type Options struct {
	MaxConnections int   // max_connections of one port
	RequestBytes   int64 // request_bytes_max
	Memory         int64 // of this process in bytes, 0: no limit
}

// New takes the bounds as they are, or as shares of the memory limit where these are less. The operator is told
// once a minute of every address whose connection the guard ends.
func New(opt Options, events *eventbus.Bus, complaints *complaints.Log, log *slog.Logger) *Ports {
	p := &Ports{maxConnections: opt.MaxConnections, RequestBytes: Within(opt.RequestBytes, opt.Memory, requestShare),
		events: events, complaints: complaints, log: log}
	if opt.Memory > 0 {
		p.MaxMessage = Within(opt.RequestBytes, opt.Memory, messageShare)
	}
	most := heldTimes * min(opt.RequestBytes, heldMost/heldTimes)
	p.Guard = zmq.NewGuard(zmq.GuardOptions{MaxBytes: Within(most, opt.Memory, heldShare), Logger: log,
		OnEnded: p.connectionEnded})
	return p
}

// Within is a bound of bytes, or a share of the memory limit where that is less; limit 0: there is none.
func Within(bytes, limit, share int64) int64 {
	if limit <= 0 {
		return bytes
	}
	return min(bytes, limit/share)
}

// connectionEnded says that a connection was ended, whose, and why.
func (p *Ports) connectionEnded(e zmq.Ended) {
	host, _, err := net.SplitHostPort(e.Peer)
	if err != nil {
		host = e.Peer
	}
	whose := "a connection"
	if e.Known {
		whose = "a connection of a minion"
	}
	cause := whose + " was ended: too much memory is held for messages that do not end, or are not taken"
	if !p.complaints.Warned(cause, host, "peer", e.Peer, "bytes", e.Bytes) {
		return
	}
	if body := p.events.Pack(tagConnectionEnded, payload.M("address", host, "bytes", e.Bytes, "known",
		e.Known)); body != nil {
		p.events.PutNow(body)
	}
}

// PeerRefused counts a connection that was not let in, and says so.
func (p *Ports) PeerRefused(peer string) {
	p.old.Add(1)
	host, _, err := net.SplitHostPort(peer)
	if err != nil {
		host = peer
	}
	p.complaints.Warn("a connection ended before its handshake: nothing but a look at the port, or a peer that does "+
		"not speak ZMTP 3 (ZeroMQ since 4.0) and was refused", host, "peer", peer)
}

// TurnedAway counts connections of strangers, and of minions, that were ended because too much was held of them, and
// those that were not let in.
func (p *Ports) TurnedAway() (strangers, known, refused uint64) {
	s := p.Guard.Stats()
	return s.Ended - s.EndedKnown, s.EndedKnown, p.old.Load()
}
