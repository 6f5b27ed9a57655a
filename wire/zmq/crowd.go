package zmq

import (
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// crowdLook is the shortest time between two searches of a full port for connections that ended unnoticed.
const crowdLook = time.Second

// crowdFailed is the shortest time between two connections that are ended because another one could not be accepted.
const crowdFailed = 10 * time.Millisecond

// crowd bounds the number of connections of a server's socket. libzmq itself accepts connections until the process has
// no descriptor left, and then retries without a pause. When there is one connection too many, crowd ends the newest
// connection of the network address that has the most. So a host with few connections keeps them. The monitor's
// goroutine calls crowd.
type crowd struct {
	most  int                                    // the largest number of connections
	told  func(full bool, peers int, who string) // see OnFull of RouterOptions; may be nil
	conns map[int]conn                           // by descriptor
	hosts map[string][]int                       // descriptors of an address, oldest first
	full  bool
	swept time.Time // when sweep last compared conns with the open descriptors
	freed time.Time // when a connection was last ended for lack of descriptors

	now      func() time.Time
	peer     func(fd int) string
	shutdown func(fd int)
	ended    atomic.Uint64
}

// conn is one connection: its peer, and the address under which it counts.
type conn struct{ peer, host string }

// newCrowd bounds a socket to most connections. It returns nil if most is 0.
func newCrowd(most int, told func(full bool, peers int, who string)) *crowd {
	if most <= 0 {
		return nil
	}
	return &crowd{most: most, told: told, conns: map[int]conn{}, hosts: map[string][]int{}, now: time.Now, peer: peerOf,
		shutdown: func(fd int) { _ = unix.Shutdown(fd, unix.SHUT_RDWR) }} // the connection may have ended by itself
}

// accepted adds a new connection. If that is one too many, it ends one.
func (c *crowd) accepted(fd int, peer string) {
	c.gone(fd) // an earlier connection with this descriptor ended unnoticed
	if peer == "" {
		return // the connection has ended already
	}
	n := conn{peer, hostOf(peer)}
	c.conns[fd] = n
	c.hosts[n.host] = append(c.hosts[n.host], fd)
	if len(c.conns) <= c.most {
		return
	}
	c.sweep()
	if len(c.conns) > c.most {
		c.endOne(n.host)
	}
}

// gone forgets a connection.
func (c *crowd) gone(fd int) {
	n, ok := c.conns[fd]
	if !ok {
		return
	}
	delete(c.conns, fd)
	left := slices.DeleteFunc(c.hosts[n.host], func(other int) bool { return other == fd })
	if len(left) == 0 {
		delete(c.hosts, n.host)
	} else {
		c.hosts[n.host] = left
	}
	if c.full && len(c.conns) < c.most-c.most/8 {
		c.tell(false, "")
	}
}

// failed ends a connection after another one could not be accepted.
func (c *crowd) failed() {
	now := c.now()
	if now.Sub(c.freed) < crowdFailed || len(c.conns) == 0 {
		return
	}
	c.freed = now
	c.endOne("")
}

// sweep forgets connections that ended unnoticed. That happens when another connection takes over an identity.
func (c *crowd) sweep() {
	now := c.now()
	if now.Sub(c.swept) < crowdLook {
		return
	}
	c.swept = now
	for fd, n := range c.conns {
		if c.peer(fd) != n.peer {
			c.gone(fd)
		}
	}
}

// endOne ends the newest connection of the address that has the most. newcomer is the address of the newest connection.
// If it has more than its share, it loses one and no other address is looked at.
func (c *crowd) endOne(newcomer string) {
	who := newcomer
	if mine := len(c.hosts[newcomer]); mine*len(c.hosts) <= c.most {
		for host, fds := range c.hosts {
			if len(fds) > len(c.hosts[who]) {
				who = host
			}
		}
	}
	fds := c.hosts[who]
	fd := fds[len(fds)-1]
	n := c.conns[fd]
	if !c.full {
		c.tell(true, who)
	}
	c.gone(fd)
	if c.peer(fd) == n.peer { // the descriptor still belongs to this connection
		c.shutdown(fd)
		c.ended.Add(1)
	}
}

func (c *crowd) tell(full bool, who string) {
	c.full = full
	if c.told != nil {
		c.told(full, len(c.conns), who)
	}
}

// hostOf is the address under which a connection counts. For IPv6 it is the network of 64 bits, because one host may
// use all of it.
func hostOf(peer string) string {
	host, _, err := net.SplitHostPort(peer)
	if err != nil {
		return peer
	}
	addr, err := netip.ParseAddr(host)
	if err != nil || addr.Unmap().Is4() {
		return host
	}
	network, err := addr.WithZone("").Prefix(64)
	if err != nil {
		return host
	}
	return network.String()
}
