package master

import (
	"net"

	"brine/modules/host/gauges"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// What libzmq may hold of both ports for messages that are not whole, and of those that peers do not take: so many times
// what requests may take, and one in so many of the memory limit where that is less.
const (
	heldTimes = 4
	heldShare = 4
	heldMost  = 1 << 50 // bytes; past it all is as good as no bound
)

// tagConnectionEnded tells operators of a connection that was ended because libzmq held too much of it.
const tagConnectionEnded = "brine/connection/ended"

// newGuard makes the guard of what libzmq holds. The operator is told of every address once a minute.
func (c *core) newGuard(opt Options) *zmq.Guard {
	most := heldTimes * min(opt.Config.RequestBytesMax, heldMost/heldTimes)
	return zmq.NewGuard(zmq.GuardOptions{MaxBytes: opt.within(most, heldShare), Logger: c.log, OnEnded: c.connectionEnded})
}

// connectionEnded says that a connection was ended, whose, and why.
func (c *core) connectionEnded(e zmq.Ended) {
	host, _, err := net.SplitHostPort(e.Peer)
	if err != nil {
		host = e.Peer
	}
	whose := "a connection"
	if e.Known {
		whose = "a connection of a minion"
	}
	cause := whose + " was ended: too much memory is held for messages that do not end, or are not taken"
	if !c.complaints.warned(cause, host, "peer", e.Peer, "bytes", e.Bytes) {
		return
	}
	if body := c.events.pack(tagConnectionEnded, payload.M("address", host, "bytes", e.Bytes, "known", e.Known)); body != nil {
		c.events.putNow(body)
	}
}

// peerRefused counts a connection that was not let in, and says so.
func (c *core) peerRefused(peer string) {
	c.oldPeers.Add(1)
	host, _, err := net.SplitHostPort(peer)
	if err != nil {
		host = peer
	}
	c.complaints.warn("a connection ended before its handshake: nothing but a look at the port, or a peer that does not speak ZMTP 3 (ZeroMQ since 4.0) and was refused", host, "peer", peer)
}

// lookEnded counts connections that were ended because too much was held of them.
var lookEnded = gauges.Counter("brine_master_connections_ended_total", "Connections that were ended because too much memory was held of them.", "peer")

// lookRefused counts connections that were not let in.
var lookRefused = gauges.Counter("brine_master_connections_refused_total", "Connections that ended before a handshake, those of peers that do not speak ZMTP 3 among them.")

func (c *core) tellEnded(tell gauges.Tell) {
	s := c.guard.Stats()
	tell(lookEnded, float64(s.Ended-s.EndedKnown), "stranger")
	tell(lookEnded, float64(s.EndedKnown), "known")
	tell(lookRefused, float64(c.oldPeers.Load()))
}
