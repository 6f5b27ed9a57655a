package zmq

import (
	"strconv"
)

// What a subscriber may send. Salt's minions send one or two topics of up to 40 bytes, and an identity of up to 255
// bytes when they connect. libzmq keeps every topic of every connection, at some 40 bytes of memory for a byte.
const (
	maxSubscriberMessage = 512 // bytes; more than a READY with the longest identity. A larger one ends the connection
	maxTopic             = 300 // bytes
	defaultTopics        = 16
	// vouchedTopics is how many topics more a connection may have for each that is vouched for: several minions may
	// share one.
	vouchedTopics = 4
	maxVouched    = 1024 // topics more that a connection can come to in this way
	// lateBytes is how much a connection must have said before it is cut: what is less may be of the one that had its
	// descriptor before, which may have said it last and be read of after the event of its end.
	lateBytes = 4 << 10
	// leastGreeting is how many bytes a connection at least has sent that are no message.
	leastGreeting = 64
	// subscriberHWM is how many messages of a connection wait for the reader. libzmq takes in all that comes before it
	// sends the next publication, so a peer that does not stop would hold up the others; with few waiting it has to stop.
	subscriberHWM = 8
	// subscriberBuffer is how many bytes of a connection the kernel keeps, about: so much comes after it was cut.
	subscriberBuffer = 16 << 10
)

// propConnection is the property of a message that holds the descriptor of its connection. What libzmq says itself,
// that a connection's end has ended a subscription, has none.
const propConnection = "__fd"

// subscriber is a connection to the publish port.
type subscriber struct {
	conn uint64
	addr string // "" until the event that it was made
	used int    // of what it may send
	said int64  // bytes of that
	cut  bool
}

// peer finds or makes what is known of a descriptor: subscriptions and events of a connection come by two ways.
// p.mu is held.
func (p *Pub) peer(fd int) *subscriber {
	one := p.peers[fd]
	if one == nil {
		p.last++
		one = &subscriber{conn: p.last}
		p.peers[fd] = one
	}
	return one
}

// onEvent follows the connections.
func (p *Pub) onEvent(e Event) {
	if e.Kind != Connected && e.Kind != Disconnected {
		return
	}
	p.mu.Lock()
	if before := p.peers[e.fd]; e.Kind == Connected && before != nil && before.addr != "" { // it ended unnoticed
		delete(p.peers, e.fd)
		p.mu.Unlock()
		p.tellConnection(Connection{Conn: before.conn, Peer: before.addr})
		p.mu.Lock()
	}
	one := p.peer(e.fd)
	switch {
	case e.Kind == Disconnected:
		delete(p.peers, e.fd)
	default:
		one.addr = e.Peer
		p.check(e.fd, one)
	}
	p.mu.Unlock()
	p.tellConnection(Connection{Conn: one.conn, Up: e.Kind == Connected, Peer: e.Peer})
}

func (p *Pub) tellConnection(c Connection) {
	if p.opt.OnConnection != nil {
		p.opt.OnConnection(c)
	}
}

// onFrames takes what subscribers send: the connection, and then 1 and a topic to begin, 0 and a topic to end.
func (p *Pub) onFrames(frames [][]byte) {
	fd, err := strconv.Atoi(string(frames[0]))
	frames = frames[1:]
	good := len(frames) == 1 && len(frames[0]) > 0 && frames[0][0] <= 1 && len(frames[0]) <= 1+maxTopic
	if err != nil { // libzmq itself
		if good {
			p.tell(Subscription{Topic: string(frames[0][1:]), Begin: frames[0][0] == 1})
		}
		return
	}
	p.mu.Lock()
	one := p.peer(fd)
	for _, frame := range frames {
		one.said += onWire(len(frame))
	}
	if !good {
		p.stats.Malformed++
	}
	p.mu.Unlock()
	vouched := good && p.tell(Subscription{Topic: string(frames[0][1:]), Begin: frames[0][0] == 1, Conn: one.conn})
	p.spend(fd, one, vouched)
}

func (p *Pub) tell(s Subscription) (vouched bool) {
	return p.opt.OnSubscription != nil && p.opt.OnSubscription(s)
}

// spend counts one message of a connection, and cuts the one that has said more than it may.
func (p *Pub) spend(fd int, one *subscriber, vouched bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if vouched {
		one.used = max(one.used-vouchedTopics, -maxVouched)
		p.sock.tally.vouch(fd)
		return
	}
	one.used++
	p.check(fd, one)
}

// check cuts a connection that has said more than it may, once it is known which one it is. p.mu is held.
func (p *Pub) check(fd int, one *subscriber) {
	if one.used > p.opt.MaxTopics && one.addr != "" && one.said >= lateBytes && p.its(fd, one) {
		p.cut(fd, one, "it subscribes to more than minions do")
	}
}

// its tells whether a connection has said what it is charged for. libzmq gives a message the descriptor of its connection, and
// another one may have that when the message is read. The kernel knows how much has come on this one: when it is charged
// for more, it begins anew. p.mu is held.
func (p *Pub) its(fd int, one *subscriber) bool {
	f, err := flowOf(fd)
	if err != nil || one.said <= f.received-leastGreeting {
		return true
	}
	one.used, one.said = 0, max(0, f.received-leastGreeting)
	return false
}

// cut shuts a connection down, once, which libzmq takes for its end. p.mu is held.
func (p *Pub) cut(fd int, one *subscriber, why string) {
	if one.cut {
		return
	}
	one.cut = true
	p.stats.Cut++
	if !p.said {
		p.said = true
		p.opt.Logger.Warn("connections to the publish port are cut; said once", "peer", one.addr, "why", why)
	}
	if peerOf(fd) == one.addr { // another connection may have the descriptor by now
		sever(fd)
	}
}
