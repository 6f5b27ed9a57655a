package minion

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"

	"brine/config"
	"brine/supervisor"
	"brine/wire/zmq"
)

// transport carries the frames of one master. The one of zeromq is below; tests have a master in memory.
type transport interface {
	// exchange sends one request and waits for its reply. zmq.ErrTimeout, zmq.ErrLost (the connection ended first),
	// errUnresolved, the cause of ctx.
	exchange(ctx context.Context, frame []byte) ([]byte, error)
	// subscribe receives publications until ctx ends. An error means that it never began.
	subscribe(ctx context.Context, port int, to publications) error
	// moved tells whether the master is to be looked for at another address than the subscription's. down says
	// that the subscription has no connection: then another address of the same name is worth a try.
	moved(ctx context.Context, down bool) bool
	close()
}

// publications are the sinks of a subscription; they must not block.
type publications struct {
	topics []string // none: everything
	frames func(frames [][]byte)
	link   func(up bool)
}

// zmqTransport holds the sockets of one master.
type zmqTransport struct {
	cfg    *config.Minion
	master config.MasterAddr
	zctx   *zmq.Context
	lookup func(ctx context.Context, host string) ([]net.IPAddr, error)
	source string // address that connections come from; "" leaves it to the system
	pool   *requestPool
	epoch  atomic.Int64           // goes up when the sockets there are may lead to the wrong place
	subbed atomic.Pointer[string] // address of the subscription
	avoid  atomic.Pointer[string] // an address that the next subscription is better made without
}

func newZMQTransport(cfg *config.Minion, master config.MasterAddr, zctx *zmq.Context, clock supervisor.Clock) (*zmqTransport, error) {
	t := &zmqTransport{cfg: cfg, master: master, zctx: zctx, lookup: net.DefaultResolver.LookupIPAddr}
	n := requestSockets
	if cfg.SourceRetPort != 0 {
		n = 1 // only one socket can have the port
	}
	t.pool = newRequestPool(n, clock)
	var err error
	t.source, err = sourceAddress(cfg)
	return t, err
}

// sourceAddress is the local end of all connections: that of source_interface_name, or source_address.
func sourceAddress(cfg *config.Minion) (string, error) {
	if cfg.SourceInterfaceName == "" {
		return cfg.SourceAddress, nil
	}
	iface, err := net.InterfaceByName(cfg.SourceInterfaceName)
	if err != nil {
		return "", fmt.Errorf("source_interface_name %s: %w", cfg.SourceInterfaceName, err)
	}
	addrs, err := iface.Addrs()
	if err != nil {
		return "", fmt.Errorf("source_interface_name %s: %w", cfg.SourceInterfaceName, err)
	}
	var ips []net.IPAddr
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok {
			ips = append(ips, net.IPAddr{IP: ip.IP})
		}
	}
	return pick(ips, cfg.IPv6, ""), nil
}

func (t *zmqTransport) exchange(ctx context.Context, frame []byte) ([]byte, error) {
	r, err := t.pool.take(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { t.pool.put(r) }()
	if r != nil && r.epoch != t.epoch.Load() {
		_ = r.Close() // nothing is under way on it
		r = nil
	}
	if r == nil {
		addr, err := t.resolve(ctx, "")
		if err != nil {
			return nil, err
		}
		r = &request{Req: t.newReq(addr), epoch: t.epoch.Load()}
	}
	reply, err := r.Do(ctx, frame)
	if err != nil {
		_ = r.Close()
		r = nil
	}
	if errors.Is(err, zmq.ErrTimeout) { // the master may have moved: all requests to come ask for its address anew
		t.epoch.Add(1)
	}
	return reply, err
}

func (t *zmqTransport) newReq(addr string) *zmq.Req {
	return zmq.NewReq(zmq.ReqOptions{
		Endpoint: zmq.ConnectEndpoint(addr, t.master.Port, t.source, t.cfg.SourceRetPort), IPv6: t.cfg.IPv6, Context: t.zctx,
		FailFast: true, Keepalive: t.keepalive(), HeartbeatIvl: t.cfg.ZMQHeartbeatIvl, HeartbeatTimeout: t.cfg.ZMQHeartbeatTimeout,
	})
}

func (t *zmqTransport) keepalive() *zmq.Keepalive {
	value := func(n int) int { // 0 is refused by the kernel, and no connection would come about
		if n <= 0 {
			return -1
		}
		return n
	}
	k := &zmq.Keepalive{Idle: value(t.cfg.TCPKeepaliveIdle), Count: value(t.cfg.TCPKeepaliveCnt), Interval: value(t.cfg.TCPKeepaliveIntvl)}
	if t.cfg.TCPKeepalive {
		k.On = 1
	}
	return k
}

func (t *zmqTransport) subscribe(ctx context.Context, port int, to publications) error {
	avoid := ""
	if a := t.avoid.Swap(nil); a != nil {
		avoid = *a
	}
	addr, err := t.resolve(ctx, avoid)
	if err != nil {
		return err
	}
	t.subbed.Store(&addr)
	c := t.cfg
	ivl := c.ReconDefault
	if c.ReconRandomize {
		ivl = between(c.ReconDefault, c.ReconDefault+c.ReconMax)
	}
	sub := zmq.NewSub(zmq.SubOptions{
		Endpoint: zmq.ConnectEndpoint(addr, port, t.source, c.SourcePublishPort), IPv6: c.IPv6, Identity: c.ID, Topics: to.topics,
		ReconnectIvl: ivl, ReconnectIvlMax: c.ReconDefault + c.ReconMax, Keepalive: t.keepalive(), Context: t.zctx,
		HeartbeatIvl: c.ZMQHeartbeatIvl, HeartbeatTimeout: c.ZMQHeartbeatTimeout,
		OnEvent: func(e zmq.Event) {
			if e.Kind == zmq.Connected || e.Kind == zmq.Disconnected {
				to.link(e.Kind == zmq.Connected)
			}
		},
	})
	err = sub.Serve(ctx, to.frames)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (t *zmqTransport) moved(ctx context.Context, down bool) bool {
	now := t.subbed.Load()
	if now == nil || net.ParseIP(t.master.Host) != nil {
		return false
	}
	found, err := t.lookup(ctx, t.master.Host)
	if err != nil || len(found) == 0 {
		return false
	}
	there := slices.ContainsFunc(found, func(a net.IPAddr) bool { return a.String() == *now })
	if there && (!down || pick(found, t.cfg.IPv6, *now) == *now) {
		return false
	}
	t.avoid.Store(now)
	t.epoch.Add(1)
	return true
}

// close is called when no actor of the connection lives any more.
func (t *zmqTransport) close() { t.pool.close() }
