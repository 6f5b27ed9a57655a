package zmq

import (
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// crowdLook is how often at most the connections of a full port are looked over for some that ended unnoticed.
const crowdLook = time.Second

// crowdFailed is how often at most a connection is ended because another could not be accepted.
const crowdFailed = 10 * time.Millisecond

// crowd bounds how many connections a server's socket holds. libzmq itself accepts whatever comes until the process has
// no descriptor left, and then tries without a pause. When there is one too many, the network address with the most
// connections loses its newest: who holds few keeps them, whoever comes. The monitor's goroutine calls it.
type crowd struct {
	most  int                                    // connections
	told  func(full bool, peers int, who string) // when the port gets full, and when it has room again; may be nil
	conns map[int]conn                           // by descriptor
	hosts map[string][]int                       // descriptors of an address, oldest first
	full  bool
	swept time.Time // when conns was last compared with what is open
	freed time.Time // when one was last ended for want of descriptors

	now      func() time.Time
	peer     func(fd int) string
	shutdown func(fd int)
	ended    atomic.Uint64
}

// conn is one connection: who it is, and the address under which it counts.
type conn struct{ peer, host string }

// newCrowd bounds a socket to most connections; nil when that is 0.
func newCrowd(most int, told func(full bool, peers int, who string)) *crowd {
	if most <= 0 {
		return nil
	}
	return &crowd{most: most, told: told, conns: map[int]conn{}, hosts: map[string][]int{}, now: time.Now, peer: peerOf,
		shutdown: func(fd int) { _ = unix.Shutdown(fd, unix.SHUT_RDWR) }} // it may have ended by itself
}

// accepted takes in a new connection, and ends one when that is too many.
func (c *crowd) accepted(fd int, peer string) {
	c.gone(fd) // one that ended unnoticed had the same descriptor
	if peer == "" {
		return // ended already
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

// failed makes room when a connection could not be accepted.
func (c *crowd) failed() {
	now := c.now()
	if now.Sub(c.freed) < crowdFailed || len(c.conns) == 0 {
		return
	}
	c.freed = now
	c.endOne("")
}

// sweep forgets connections that ended unnoticed, as those do whose identity another one takes over.
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

// endOne ends the newest connection of the address that has the most. newcomer is that address when it has more than
// its share; then nobody else need be looked for.
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
	if c.peer(fd) == n.peer { // the descriptor is still this connection's
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

// hostOf is the address under which a connection counts: of IPv6 the network of 64 bits, for a host has all of it.
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
