package zmq

import (
	"math/rand/v2"
	"time"

	"brine/wire/transport"
)

// NetworkOptions are what a minion's configuration says of connections to its masters.
type NetworkOptions struct {
	Context              *Context      // nil: each end makes its own
	IPv6                 bool          // option ipv6
	Source               string        // address of the local end; "": the system chooses
	RequestPort, SubPort int           // source_ret_port, source_publish_port: of the local end; 0: any
	Keepalive            *Keepalive    // options tcp_keepalive...; nil: 1, 300, -1, -1
	HeartbeatIvl         time.Duration // zmq_heartbeat_ivl; 0 is off
	HeartbeatTimeout     time.Duration // zmq_heartbeat_timeout
	ReconnectIvl         time.Duration // recon_default
	ReconnectLonger      time.Duration // recon_max: the most that is added to ReconnectIvl
	ReconnectRandom      bool          // recon_randomize: what is added is random
}

// Network makes Reqs and Subs with the same options.
type Network struct{ opt NetworkOptions }

// NewNetwork opens nothing.
func NewNetwork(opt NetworkOptions) *Network { return &Network{opt} }

// RequestClient makes a Req that fails fast.
func (n *Network) RequestClient(host string, port int) transport.RequestClient {
	o := n.opt
	return NewReq(ReqOptions{Endpoint: ConnectEndpoint(host, port, o.Source, o.RequestPort), IPv6: o.IPv6,
		Context: o.Context, FailFast: true, Keepalive: o.Keepalive, HeartbeatIvl: o.HeartbeatIvl,
		HeartbeatTimeout: o.HeartbeatTimeout})
}

// Subscriber makes a Sub.
func (n *Network) Subscriber(host string, port int, opt transport.SubscriberOptions) transport.Subscriber {
	o := n.opt
	ivl := o.ReconnectIvl
	if o.ReconnectRandom && o.ReconnectLonger > 0 {
		ivl += rand.N(o.ReconnectLonger)
	}
	return NewSub(SubOptions{Endpoint: ConnectEndpoint(host, port, o.Source, o.SubPort), IPv6: o.IPv6,
		Identity: opt.ID, Topics: topicsTo(opt), ReconnectIvl: ivl, ReconnectIvlMax: o.ReconnectIvl + o.ReconnectLonger,
		Keepalive: o.Keepalive, Context: o.Context, HeartbeatIvl: o.HeartbeatIvl, HeartbeatTimeout: o.HeartbeatTimeout,
		OnEvent: func(e Event) {
			if opt.OnLink != nil && (e.Kind == Connected || e.Kind == Disconnected) {
				opt.OnLink(e.Kind == Connected)
			}
		}})
}

// topicsTo are the topics that a minion subscribes to; none: everything.
func topicsTo(opt transport.SubscriberOptions) (topics []string) {
	if opt.Filter {
		topics = []string{TopicBroadcast, Topic(opt.ID)}
	}
	if opt.Mark == "" {
		return topics
	}
	if len(topics) == 0 {
		topics = []string{""}
	}
	return append(topics, opt.Mark)
}
