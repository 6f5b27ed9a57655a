package link

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

// Transport carries the frames of one master. The one of zeromq is below; tests have a master in memory.
type Transport interface {
	// Exchange sends one request and waits for its reply, which stands in room if it is large and fits. Errors:
	// transport.ErrTimeout, of which transport.ErrUnconnected is one, transport.ErrLost (the connection ended first),
	// ErrUnresolved, the cause of ctx.
	Exchange(ctx context.Context, frame, room []byte) ([]byte, error)
	// Listening waits until the master accepts a connection for requests (nil), or ctx ends.
	Listening(ctx context.Context) error
	// Subscribe receives publications until ctx ends. An error means that it never began.
	Subscribe(ctx context.Context, port int, to Publications) error
	// Moved tells whether the master is to be looked for at another address than the subscription's. down says
	// that the subscription has no connection: then another address of the same name is worth a try.
	Moved(ctx context.Context, down bool) bool
	Close()
}

// Publications are the sinks of a subscription; they must not block.
type Publications struct {
	Topics []string // none: everything
	Frames func(frames [][]byte)
	Link   func(up bool)
}

// TransportOptions are what the configuration says of connections to a master.
type TransportOptions struct {
	ID   string // of this minion, as the publish port of the master sees it
	IPv6 bool
	// source_interface_name: its address is the local end of all; "": sourceAddress is
	SourceInterface      string
	SourceAddress        string // source_address; "": the system chooses
	RequestPort, SubPort int    // source_ret_port, source_publish_port: of the local end; 0: any
	// a master whose name has no address is taken for this host (resolve_dns_fallback without retry_dns)
	ToThisHost                 bool
	Keepalive                  zmq.Keepalive // of TCP
	Heartbeat, Silence         time.Duration // zmq_heartbeat_ivl, zmq_heartbeat_timeout
	Reconnect, ReconnectLonger time.Duration // recon_default; recon_max is the most that is added to it
	ReconnectRandom            bool          // recon_randomize: what is added is random
}

// zmqTransport holds the sockets of one master.
type zmqTransport struct {
	opt    TransportOptions
	master config.MasterAddr
	zctx   *zmq.Context
	lookup func(ctx context.Context, host string) ([]net.IPAddr, error)
	source string // address that connections come from; "" leaves it to the system
	pool   *requestPool
	epoch  atomic.Int64           // goes up when the sockets there are may lead to the wrong place
	subbed atomic.Pointer[string] // address of the subscription
	avoid  atomic.Pointer[string] // an address that the next subscription is better made without
}

// NewTransport makes the sockets of one master, which connect when they are used.
func NewTransport(opt TransportOptions, master config.MasterAddr, zctx *zmq.Context, clock supervisor.Clock) (
	*zmqTransport, error) {
	t := &zmqTransport{opt: opt, master: master, zctx: zctx, lookup: net.DefaultResolver.LookupIPAddr}
	n := requestSockets
	if opt.RequestPort != 0 {
		n = 1 // only one socket can have the port
	}
	t.pool = newRequestPool(n, clock)
	var err error
	t.source, err = sourceAddress(opt)
	return t, err
}

// sourceAddress is the local end of all connections: that of source_interface_name, or source_address.
func sourceAddress(opt TransportOptions) (string, error) {
	if opt.SourceInterface == "" {
		return opt.SourceAddress, nil
	}
	iface, err := net.InterfaceByName(opt.SourceInterface)
	if err != nil {
		return "", fmt.Errorf("source_interface_name %s: %w", opt.SourceInterface, err)
	}
	addrs, err := iface.Addrs()
	if err != nil {
		return "", fmt.Errorf("source_interface_name %s: %w", opt.SourceInterface, err)
	}
	var ips []net.IPAddr
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok {
			ips = append(ips, net.IPAddr{IP: ip.IP})
		}
	}
	return pick(ips, opt.IPv6, ""), nil
}

func (t *zmqTransport) Exchange(ctx context.Context, frame, room []byte) ([]byte, error) {
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
		r = &socket{Req: t.newReq(addr), epoch: t.epoch.Load()}
	}
	reply, err := r.DoIn(ctx, frame, room)
	if err != nil {
		_ = r.Close()
		r = nil
	}
	if errors.Is(err, transport.ErrTimeout) {
		// the master may have moved: all requests to come ask for its address anew
		t.epoch.Add(1)
	}
	return reply, err
}

// Listening connects a socket of its own, which then closes. An address that cannot be looked up is an error.
func (t *zmqTransport) Listening(ctx context.Context) error {
	addr, err := t.resolve(ctx, "")
	if err != nil {
		return err
	}
	req := t.newReq(addr)
	return errors.Join(req.Connect(ctx), req.Close())
}

func (t *zmqTransport) newReq(addr string) *zmq.Req {
	return zmq.NewReq(zmq.ReqOptions{
		Endpoint: zmq.ConnectEndpoint(addr, t.master.Port, t.source, t.opt.RequestPort), IPv6: t.opt.IPv6,
		Context: t.zctx, FailFast: true, Keepalive: &t.opt.Keepalive, HeartbeatIvl: t.opt.Heartbeat,
		HeartbeatTimeout: t.opt.Silence,
	})
}

func (t *zmqTransport) Subscribe(ctx context.Context, port int, to Publications) error {
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
	ivl := o.Reconnect
	if o.ReconnectRandom {
		ivl = daemon.Between(o.Reconnect, o.Reconnect+o.ReconnectLonger)
	}
	sub := zmq.NewSub(zmq.SubOptions{
		Endpoint: zmq.ConnectEndpoint(addr, port, t.source, o.SubPort), IPv6: o.IPv6, Identity: o.ID, Topics: to.Topics,
		ReconnectIvl: ivl, ReconnectIvlMax: o.Reconnect + o.ReconnectLonger, Keepalive: &o.Keepalive, Context: t.zctx,
		HeartbeatIvl: o.Heartbeat, HeartbeatTimeout: o.Silence,
		OnEvent: func(e zmq.Event) {
			if e.Kind == zmq.Connected || e.Kind == zmq.Disconnected {
				to.Link(e.Kind == zmq.Connected)
			}
		},
	})
	err = sub.Serve(ctx, to.Frames)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (t *zmqTransport) Moved(ctx context.Context, down bool) bool {
	now := t.subbed.Load()
	if now == nil || net.ParseIP(t.master.Host) != nil {
		return false
	}
	found, err := t.lookup(ctx, t.master.Host)
	if err != nil || len(found) == 0 {
		return false
	}
	there := slices.ContainsFunc(found, func(a net.IPAddr) bool { return a.String() == *now })
	if there && (!down || pick(found, t.opt.IPv6, *now) == *now) {
		return false
	}
	t.avoid.Store(now)
	t.epoch.Add(1)
	return true
}

// Close is called when no actor of the connection lives any more.
func (t *zmqTransport) Close() { t.pool.close() }
