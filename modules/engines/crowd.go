package engines

import (
	"log/slog"
	"net"
	"sync"
)

// crowd is a listener that closes connections which are too many, at once or of one address.
type crowd struct {
	net.Listener
	log *slog.Logger

	mu      sync.Mutex
	all     int
	of      map[string]int // address → connections
	refused uint64
}

// Accept waits for a connection that is not too much.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
		if err != nil {
			host = conn.RemoteAddr().String()
		}
		if !c.enter(host) {
			_ = conn.Close() // nobody waits for it
			continue
		}
		return &guest{Conn: conn, leave: sync.OnceFunc(func() { c.leave(host) })}, nil
	}
}

func (c *crowd) enter(host string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= hookConnections || c.of[host] >= hookPerAddress {
		if c.refused++; c.refused&(c.refused-1) == 0 {
			c.log.Warn("the webhook closes a connection: there are too many", "peer", host, "of the address",
				c.of[host], "all", c.all, "times", c.refused)
		}
		return false
	}
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.all++
	c.of[host]++
	return true
}

func (c *crowd) leave(host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.of[host]--; c.of[host] <= 0 {
		delete(c.of, host)
	}
}

// guest is a connection that is counted.
type guest struct {
	net.Conn
	leave func()
}

// Close gives its place back.
func (g *guest) Close() error {
	g.leave()
	return g.Conn.Close()
}
