package link

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"

	"brine/config"
	"brine/supervisor"
	"brine/wire/transport"
)

// Transport is the way to one master, over any network; tests have a master in memory.
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

// Publications are what a subscription says, and its sinks, which must not block.
type Publications struct {
	Filter  bool   // only what is for everybody or for this minion (zmq_filtering)
	Mark    string // a topic that shows a brine master who is connected; "": none
	Payload func(payload []byte)
	Link    func(up bool)
}

// TransportOptions are what the configuration says of connections to a master.
type TransportOptions struct {
	ID      string // of this minion, as the publish port of the master sees it
	Network transport.Network
	IPv6    bool // of several addresses of the master one of IPv6
	Single  bool // there can be one end of the request channel at a time (source_ret_port)
	// a master whose name has no address is taken for this host (resolve_dns_fallback without retry_dns)
	ToThisHost bool
}

// network finds a master and holds the ends towards it.
type network struct {
	opt    TransportOptions
	master config.MasterAddr
	lookup func(ctx context.Context, host string) ([]net.IPAddr, error)
	pool   *requestPool
	epoch  atomic.Int64           // goes up when the sockets there are may lead to the wrong place
	subbed atomic.Pointer[string] // address of the subscription
	avoid  atomic.Pointer[string] // an address that the next subscription is better made without
}

// NewTransport makes the way to a master. It opens nothing.
func NewTransport(opt TransportOptions, master config.MasterAddr, clock supervisor.Clock) Transport {
	return newNetwork(opt, master, clock)
}

func newNetwork(opt TransportOptions, master config.MasterAddr, clock supervisor.Clock) *network {
	n := requestSockets
	if opt.Single {
		n = 1
	}
	return &network{opt: opt, master: master, lookup: net.DefaultResolver.LookupIPAddr,
		pool: newRequestPool(n, clock)}
}

func (t *network) Exchange(ctx context.Context, frame, room []byte) ([]byte, error) {
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
		r = &socket{RequestClient: t.client(addr), epoch: t.epoch.Load()}
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

// Listening connects a socket of its own, which then closes. An address that cannot be looked up is an error.
func (t *network) Listening(ctx context.Context) error {
	addr, err := t.resolve(ctx, "")
	if err != nil {
		return err
	}
	req := t.client(addr)
	return errors.Join(req.Connect(ctx), req.Close())
}

func (t *network) client(addr string) transport.RequestClient {
	return t.opt.Network.RequestClient(addr, t.master.Port)
}

func (t *network) Subscribe(ctx context.Context, port int, to Publications) error {
	avoid := ""
	if a := t.avoid.Swap(nil); a != nil {
		avoid = *a
	}
	addr, err := t.resolve(ctx, avoid)
	if err != nil {
		return err
	}
	t.subbed.Store(&addr)
	sub := t.opt.Network.Subscriber(addr, port, transport.SubscriberOptions{ID: t.opt.ID, Filter: to.Filter,
		Mark: to.Mark, OnLink: to.Link})
	err = sub.Serve(ctx, to.Payload)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (t *network) Moved(ctx context.Context, down bool) bool {
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
func (t *network) Close() { t.pool.close() }
