package saltminion

import (
	"brine/actors/minion/link"
	"brine/config"
	"brine/wire/transport"
	"brine/wire/zmq"
)

// networkOf makes the network on which a minion reaches its masters.
func networkOf(cfg *config.Minion, zctx *zmq.Context) (transport.Network, error) {
	source, err := link.SourceAddress(cfg.SourceInterfaceName, cfg.SourceAddress, cfg.IPv6)
	if err != nil {
		return nil, err
	}
	value := func(n int) int { // the kernel refuses 0, and there would be no connection
		if n <= 0 {
			return -1
		}
		return n
	}
	keepalive := &zmq.Keepalive{Idle: value(cfg.TCPKeepaliveIdle), Count: value(cfg.TCPKeepaliveCnt),
		Interval: value(cfg.TCPKeepaliveIntvl)}
	if cfg.TCPKeepalive {
		keepalive.On = 1
	}
	return zmq.NewNetwork(zmq.NetworkOptions{Context: zctx, IPv6: cfg.IPv6, Source: source,
		RequestPort: cfg.SourceRetPort, SubPort: cfg.SourcePublishPort, Keepalive: keepalive,
		HeartbeatIvl: cfg.ZMQHeartbeatIvl, HeartbeatTimeout: cfg.ZMQHeartbeatTimeout, ReconnectIvl: cfg.ReconDefault,
		ReconnectLonger: cfg.ReconMax, ReconnectRandom: cfg.ReconRandomize}), nil
}
