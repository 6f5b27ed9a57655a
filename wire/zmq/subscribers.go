package zmq

import (
	"cmp"
	"strconv"

	"brine/wire/transport"
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
	// sends the next publication, so a peer that does not stop would hold up the others; with few waiting it has to
	// stop.
	subscriberHWM = 8
	// subscriberBuffer is how many bytes of a connection the kernel keeps, about: so much comes after it was cut.
	subscriberBuffer = 16 << 10
)

// propConnection is the property of a message that holds the descriptor of its connection. What libzmq says itself,
// that a connection's end has ended a subscription, has none.
const propConnection = "__fd"

// subscriber is a connection to the publish port.
type subscriber struct {
	conn   uint64
	cookie uint64 // the kernel's number of its socket; 0: it had ended when it was asked for
	addr   string // "" until the event that it was made
	up     bool   // it was made, and its end has not come
	used   int    // of what it may send
	said   int64  // bytes of that
	cut    bool
}

// peer finds or makes what is known of the connection that has a descriptor now. Subscriptions and events come by two
// ways, either of which may be late: by then the next connection may have the descriptor, which its socket shows. ended
// is the connection before, when its end has not come yet. p.mu is held.
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

// onEvent follows the connections. What has ended is kept until the next one has its descriptor: its last words may be
// read after the event of its end, and that event may be of the one before.
func (p *Pub) onEvent(e Event) {
	if e.Kind != Connected && e.Kind != Disconnected {
		return
	}
	p.telling.Lock()
	defer p.telling.Unlock()
	p.mu.Lock()
	var one, ended *subscriber
	if e.Kind == Connected {
		if one, ended = p.peer(e.fd); one.up { // it ended unnoticed, and no socket tells them apart
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

// tellEnd tells of the end of a connection, if there is one.
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

// onFrames takes what subscribers send: the connection, and then 1 and a topic to begin, 0 and a topic to end.
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
	if over { // what was on its way when it was cut
		return
	}
	vouched := good && p.tell(transport.Subscription{Topic: string(frames[0][1:]), Begin: frames[0][0] == 1,
		Conn: one.conn})
	p.spend(fd, one, vouched)
}

func (p *Pub) tell(s transport.Subscription) (vouched bool) {
	return p.opt.Audience.Subscription != nil && p.opt.Audience.Subscription(s)
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

// check cuts a connection that has said more than it may, once it is known which one it is: the event that it was made
// may come long after its words. p.mu is held.
func (p *Pub) check(fd int, one *subscriber) {
	if one.used > p.opt.MaxTopics && (one.cookie != 0 || one.addr != "") && one.said >= lateBytes && p.its(fd, one) {
		p.cut(fd, one, "it subscribes to more than minions do")
	}
}

// its tells whether a connection has said what it is charged for. libzmq gives a message the descriptor of its
// connection, and another one may have that when the message is read. The kernel knows how much has come on this one:
// when it is charged for more, it begins anew. p.mu is held.
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
		p.opt.Logger.Warn("connections to the publish port are cut; said once", "peer", cmp.Or(one.addr, peerOf(fd)),
			"why", why)
	}
	if one.has(fd) {
		sever(fd)
	}
}

// has tells whether a descriptor is still the connection's; another one may have it by now.
func (s *subscriber) has(fd int) bool {
	if s.cookie != 0 {
		return s.cookie == cookieOf(fd)
	}
	return s.addr == peerOf(fd)
}
