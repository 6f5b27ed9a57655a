package master

import (
	"log/slog"
	"net"
	"sync/atomic"

	"brine/modules/host/gauges"
	"brine/wire/payload"
	"brine/wire/zmq"
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

// ports knows what the two ports may hold, and who was turned away at them.
type ports struct {
	guard          *zmq.Guard    // of what libzmq holds at both
	maxConnections int           // of one (max_connections)
	requestBytes   int64         // of requests that wait for their answers
	maxMessage     int64         // of one request; 0: the adapter's
	old            atomic.Uint64 // connections that were not let in
	events         *events
	complaints     *complaints
	log            *slog.Logger
}

// portOptions are bounds of the configuration, and the memory limit.
type portOptions struct {
	maxConnections int   // max_connections of one port
	requestBytes   int64 // request_bytes_max
	memory         int64 // of this process in bytes, 0: no limit
}

// newPorts takes the bounds as they are, or as shares of the memory limit where these are less. The operator is told
// once a minute of every address whose connection the guard ends.
func newPorts(opt portOptions, events *events, complaints *complaints, log *slog.Logger) *ports {
	p := &ports{maxConnections: opt.maxConnections, requestBytes: within(opt.requestBytes, opt.memory, requestShare),
		events: events, complaints: complaints, log: log}
	if opt.memory > 0 {
		p.maxMessage = within(opt.requestBytes, opt.memory, messageShare)
	}
	most := heldTimes * min(opt.requestBytes, heldMost/heldTimes)
	p.guard = zmq.NewGuard(zmq.GuardOptions{MaxBytes: within(most, opt.memory, heldShare), Logger: log,
		OnEnded: p.connectionEnded})
	return p
}

// connectionEnded says that a connection was ended, whose, and why.
func (p *ports) connectionEnded(e zmq.Ended) {
	host, _, err := net.SplitHostPort(e.Peer)
	if err != nil {
		host = e.Peer
	}
	whose := "a connection"
	if e.Known {
		whose = "a connection of a minion"
	}
	cause := whose + " was ended: too much memory is held for messages that do not end, or are not taken"
	if !p.complaints.warned(cause, host, "peer", e.Peer, "bytes", e.Bytes) {
		return
	}
	if body := p.events.pack(tagConnectionEnded, payload.M("address", host, "bytes", e.Bytes, "known",
		e.Known)); body != nil {
		p.events.putNow(body)
	}
}

// peerRefused counts a connection that was not let in, and says so.
func (p *ports) peerRefused(peer string) {
	p.old.Add(1)
	host, _, err := net.SplitHostPort(peer)
	if err != nil {
		host = peer
	}
	p.complaints.warn("a connection ended before its handshake: nothing but a look at the port, or a peer that does "+
		"not speak ZMTP 3 (ZeroMQ since 4.0) and was refused", host, "peer", peer)
}

// lookEnded counts connections that were ended because too much was held of them.
var lookEnded = gauges.Counter("brine_master_connections_ended_total", "Connections that were ended because too "+
	"much memory was held of them.", "peer")

// lookRefused counts connections that were not let in.
var lookRefused = gauges.Counter("brine_master_connections_refused_total",
	"Connections that ended before a handshake, those of peers that do not speak ZMTP 3 among them.")

func (p *ports) tellEnded(tell gauges.Tell) {
	s := p.guard.Stats()
	tell(lookEnded, float64(s.Ended-s.EndedKnown), "stranger")
	tell(lookEnded, float64(s.EndedKnown), "known")
	tell(lookRefused, float64(p.old.Load()))
}
