package minion

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"brine/actors/daemon"
	"brine/config"
	"brine/supervisor"
	"brine/wire/transport"
	"brine/wire/zmq"
)

// carrier carries the frames of one master. The one of zeromq is below; tests have a master in memory.
type carrier interface {
	// exchange sends one request and waits for its reply, which stands in room if it is large and fits. Errors:
	// transport.ErrTimeout, of which transport.ErrUnconnected is one, transport.ErrLost (the connection ended first),
	// errUnresolved, the cause of ctx.
	exchange(ctx context.Context, frame, room []byte) ([]byte, error)
	// listening waits until the master accepts a connection for requests (nil), or ctx ends.
	listening(ctx context.Context) error
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

// transportOptions are what the configuration says of connections to a master.
type transportOptions struct {
	id   string // of this minion, as the publish port of the master sees it
	ipv6 bool
	// source_interface_name: its address is the local end of all; "": sourceAddress is
	sourceInterface      string
	sourceAddress        string // source_address; "": the system chooses
	requestPort, subPort int    // source_ret_port, source_publish_port: of the local end; 0: any
	// a master whose name has no address is taken for this host (resolve_dns_fallback without retry_dns)
	toThisHost                 bool
	keepalive                  zmq.Keepalive // of TCP
	heartbeat, silence         time.Duration // zmq_heartbeat_ivl, zmq_heartbeat_timeout
	reconnect, reconnectLonger time.Duration // recon_default; recon_max is the most that is added to it
	reconnectRandom            bool          // recon_randomize: what is added is random
}

// zmqTransport holds the sockets of one master.
type zmqTransport struct {
	opt    transportOptions
	master config.MasterAddr
	zctx   *zmq.Context
	lookup func(ctx context.Context, host string) ([]net.IPAddr, error)
	source string // address that connections come from; "" leaves it to the system
	pool   *requestPool
	epoch  atomic.Int64           // goes up when the sockets there are may lead to the wrong place
	subbed atomic.Pointer[string] // address of the subscription
	avoid  atomic.Pointer[string] // an address that the next subscription is better made without
}

func newZMQTransport(opt transportOptions, master config.MasterAddr, zctx *zmq.Context, clock supervisor.Clock) (
	*zmqTransport, error) {
	t := &zmqTransport{opt: opt, master: master, zctx: zctx, lookup: net.DefaultResolver.LookupIPAddr}
	n := requestSockets
	if opt.requestPort != 0 {
		n = 1 // only one socket can have the port
	}
	t.pool = newRequestPool(n, clock)
	var err error
	t.source, err = sourceAddress(opt)
	return t, err
}

// sourceAddress is the local end of all connections: that of source_interface_name, or source_address.
func sourceAddress(opt transportOptions) (string, error) {
	if opt.sourceInterface == "" {
		return opt.sourceAddress, nil
	}
	iface, err := net.InterfaceByName(opt.sourceInterface)
	if err != nil {
		return "", fmt.Errorf("source_interface_name %s: %w", opt.sourceInterface, err)
	}
	addrs, err := iface.Addrs()
	if err != nil {
		return "", fmt.Errorf("source_interface_name %s: %w", opt.sourceInterface, err)
	}
	var ips []net.IPAddr
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok {
			ips = append(ips, net.IPAddr{IP: ip.IP})
		}
	}
	return pick(ips, opt.ipv6, ""), nil
}

func (t *zmqTransport) exchange(ctx context.Context, frame, room []byte) ([]byte, error) {
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
	reply, err := r.DoIn(ctx, frame, room)
	if err != nil {
		_ = r.Close()
		r = nil
	}
	if errors.Is(err, transport.ErrTimeout) { // the master may have moved: all requests to come ask for its address anew
		t.epoch.Add(1)
	}
	return reply, err
}

// listening connects a socket of its own, which then closes. An address that cannot be looked up is an error.
func (t *zmqTransport) listening(ctx context.Context) error {
	addr, err := t.resolve(ctx, "")
	if err != nil {
		return err
	}
	req := t.newReq(addr)
	return errors.Join(req.Connect(ctx), req.Close())
}

func (t *zmqTransport) newReq(addr string) *zmq.Req {
	return zmq.NewReq(zmq.ReqOptions{
		Endpoint: zmq.ConnectEndpoint(addr, t.master.Port, t.source, t.opt.requestPort), IPv6: t.opt.ipv6,
		Context: t.zctx, FailFast: true, Keepalive: &t.opt.keepalive, HeartbeatIvl: t.opt.heartbeat,
		HeartbeatTimeout: t.opt.silence,
	})
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
	o := t.opt
	ivl := o.reconnect
	if o.reconnectRandom {
		ivl = daemon.Between(o.reconnect, o.reconnect+o.reconnectLonger)
	}
	sub := zmq.NewSub(zmq.SubOptions{
		Endpoint: zmq.ConnectEndpoint(addr, port, t.source, o.subPort), IPv6: o.ipv6, Identity: o.id, Topics: to.topics,
		ReconnectIvl: ivl, ReconnectIvlMax: o.reconnect + o.reconnectLonger, Keepalive: &o.keepalive, Context: t.zctx,
		HeartbeatIvl: o.heartbeat, HeartbeatTimeout: o.silence,
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
	if there && (!down || pick(found, t.opt.ipv6, *now) == *now) {
		return false
	}
	t.avoid.Store(now)
	t.epoch.Add(1)
	return true
}

// close is called when no actor of the connection lives any more.
func (t *zmqTransport) close() { t.pool.close() }
