package zmq

import (
	"cmp"
	"strconv"

	"brine/wire/transport"
)

// Limits for subscribers. Salt's minions send one or two topics of up to 40 bytes, and an identity of up to 255 bytes
// when they connect. libzmq keeps every topic of every connection, with some 40 bytes of memory for each byte.
const (
	maxSubscriberMessage = 512 // bytes; more than a READY with the longest identity. A larger one ends the connection
	maxTopic             = 300 // bytes
	defaultTopics        = 16
	// vouchedTopics is how many more topics a connection may have for each one that is vouched for: several minions may
	// share a connection.
	vouchedTopics = 4
	maxVouched    = 1024 // the most extra topics that a connection can get in this way
	// lateBytes is how much a connection must have sent before it is cut. Less may come from an earlier connection with
	// the same descriptor: its last messages may be read after the event of its end.
	lateBytes = 4 << 10
	// leastGreeting is the least number of bytes that a connection has sent besides messages.
	leastGreeting = 64
	// subscriberHWM is how many messages of a connection wait for the reader. libzmq reads everything that has arrived
	// before it sends the next publication, so a peer that sends without a pause would delay all others. With a small
	// mark that peer has to pause.
	subscriberHWM = 8
	// subscriberBuffer is about how many bytes of a connection the kernel buffers: these may arrive after the cut.
	subscriberBuffer = 16 << 10
)

// propConnection is the property of a message that holds the descriptor of its connection. A message without it comes
// from libzmq itself: a connection has ended, and its subscription with it.
const propConnection = "__fd"

// subscriber is a connection to the publish port.
type subscriber struct {
	conn   uint64
	cookie uint64 // the kernel's number of its socket; 0: the connection had ended before the number was read
	addr   string // "" until the event Connected
	up     bool   // between its events Connected and Disconnected
	used   int    // of its allowance of messages
	said   int64  // bytes of all its messages
	cut    bool
}

// peer finds or makes the record of the connection that now has a descriptor. Subscriptions and events arrive
// independently, and either may be late. By then the next connection may have the descriptor; the socket's cookie shows
// that. ended is the earlier connection, if the event of its end has not arrived yet. p.mu is held.
func (p *Pub) peer(fd int) (one, ended *subscriber) {
	one = p.peers[fd]
	cookie := cookieOf(fd)
	if one != nil && (cookie == 0 || cookie == one.cookie) {
		return one, nil
	}
	if one != nil && one.up {
		one.up, ended = false, one
	}
	p.last++
	one = &subscriber{conn: p.last, cookie: cookie}
	p.peers[fd] = one
	return one, ended
}

// onEvent follows the connections. The record of an ended connection is kept until the next one has its descriptor,
// because its last messages may be read after the event of its end, and that event may concern an earlier connection.
func (p *Pub) onEvent(e Event) {
	if e.Kind != Connected && e.Kind != Disconnected {
		return
	}
	p.telling.Lock()
	defer p.telling.Unlock()
	p.mu.Lock()
	var one, ended *subscriber
	if e.Kind == Connected {
		if one, ended = p.peer(e.fd); one.up { // the old one ended unnoticed, and no cookie tells the two apart
			p.last++
			ended, one = one, &subscriber{conn: p.last, cookie: one.cookie}
			p.peers[e.fd] = one
		}
		one.addr, one.up = e.Peer, true
		p.check(e.fd, one)
	} else if was := p.peers[e.fd]; was != nil && was.up {
		was.up, ended = false, was
	}
	p.mu.Unlock()
	p.tellEnd(ended)
	if one != nil {
		p.tellConnection(transport.Connection{Conn: one.conn, Up: true, Peer: e.Peer})
	}
}

// tellEnd reports the end of a connection, if there is one.
func (p *Pub) tellEnd(ended *subscriber) {
	if ended != nil {
		p.tellConnection(transport.Connection{Conn: ended.conn, Peer: ended.addr})
	}
}

func (p *Pub) tellConnection(c transport.Connection) {
	if p.opt.Audience.Connection != nil {
		p.opt.Audience.Connection(c)
	}
}

// onFrames handles a message of a subscriber: the connection, and then 1 and a topic to begin, 0 and a topic to end.
func (p *Pub) onFrames(frames [][]byte) {
	fd, err := strconv.Atoi(string(frames[0]))
	frames = frames[1:]
	good := len(frames) == 1 && len(frames[0]) > 0 && frames[0][0] <= 1 && len(frames[0]) <= 1+maxTopic
	if err != nil { // libzmq itself
		if good {
			p.tell(transport.Subscription{Topic: string(frames[0][1:]), Begin: frames[0][0] == 1})
		}
		return
	}
	p.telling.Lock()
	p.mu.Lock()
	one, ended := p.peer(fd)
	for _, frame := range frames {
		one.said += onWire(len(frame))
	}
	if !good {
		p.stats.Malformed++
	}
	p.mu.Unlock()
	over := one.cut
	p.tellEnd(ended)
	p.telling.Unlock()
	if over { // it was under way when the connection was cut
		return
	}
	vouched := good && p.tell(transport.Subscription{Topic: string(frames[0][1:]), Begin: frames[0][0] == 1,
		Conn: one.conn})
	p.spend(fd, one, vouched)
}

func (p *Pub) tell(s transport.Subscription) (vouched bool) {
	return p.opt.Audience.Subscription != nil && p.opt.Audience.Subscription(s)
}

// spend counts one message of a connection, and cuts a connection that exceeds its allowance.
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

// check cuts a connection that exceeds its allowance, once it is clear which connection that is: the event Connected
// may arrive long after its messages. p.mu is held.
func (p *Pub) check(fd int, one *subscriber) {
	if one.used > p.opt.MaxTopics && (one.cookie != 0 || one.addr != "") && one.said >= lateBytes && p.its(fd, one) {
		p.cut(fd, one, "it subscribes to more than minions do")
	}
}

// its tells whether a connection has really sent the bytes that are counted for it. libzmq marks a message with the
// descriptor of its connection, and another connection may have that descriptor when the message is read. The kernel
// knows how many bytes this connection has received. If more were counted, its count starts again. p.mu is held.
func (p *Pub) its(fd int, one *subscriber) bool {
	f, err := flowOf(fd)
	if err != nil || one.said <= f.received-leastGreeting {
		return true
	}
	one.used, one.said = 0, max(0, f.received-leastGreeting)
	return false
}

// cut shuts a connection down, once; libzmq notices that it has ended. p.mu is held.
func (p *Pub) cut(fd int, one *subscriber, why string) {
	if one.cut {
		return
	}
	one.cut = true
	p.stats.Cut++
	if !p.said {
		p.said = true
		p.opt.Logger.Warn("connections to the publish port are cut; said once", "peer", cmp.Or(one.addr, peerOf(fd)),
			"why", why)
	}
	if one.has(fd) {
		sever(fd)
	}
}

// has tells whether the descriptor still belongs to this connection.
func (s *subscriber) has(fd int) bool {
	if s.cookie != 0 {
		return s.cookie == cookieOf(fd)
	}
	return s.addr == peerOf(fd)
}
