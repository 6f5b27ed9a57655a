package master

import (
	"context"
	"path/filepath"

	"brine/actors/master/eventbus"
	"brine/actors/master/jobs"
	"brine/actors/master/maintenance"
	"brine/actors/master/ports"
	"brine/actors/master/publish"
	"brine/actors/master/reqserver"
	"brine/actors/master/workers"
	"brine/config"
	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/bus"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
	"brine/wire/transport"
	"brine/wire/zmq"
)

func (c *core) publisherOptions() publish.PublisherOptions {
	cfg := c.cfg
	return publish.PublisherOptions{
		Open: func() transport.Publisher {
			return zmq.NewPub(zmq.PubOptions{
				Endpoint: zmq.BindEndpoint(cfg.Interface, cfg.PublishPort), IPv6: cfg.IPv6, Backlog: cfg.ZMQBacklog,
				HWM: cfg.PubHWM, Keepalive: keepaliveOf(cfg), HeartbeatIvl: cfg.ZMQHeartbeatIvl,
				HeartbeatTimeout: cfg.ZMQHeartbeatTimeout, MaxTopics: cfg.PubMaxTopics, MaxPeers: c.ports.MaxPeers(),
				OnFull: ports.Full(c.log, cfg.PublishPort), Guard: c.ports.Guard, OnRefused: c.ports.PeerRefused,
				Logger: c.log, Filter: cfg.ZMQFiltering, Audience: c.attendance.Audience(),
			})
		},
		Seal:   c.auth.SealPublication,
		Syndic: cfg.OrderMasters, Log: c.log,
	}
}

func keepaliveOf(cfg *config.Master) *zmq.Keepalive {
	k := &zmq.Keepalive{Idle: cfg.TCPKeepaliveIdle, Count: cfg.TCPKeepaliveCnt, Interval: cfg.TCPKeepaliveIntvl}
	if cfg.TCPKeepalive {
		k.On = 1
	}
	return k
}

func (c *core) jobStoreOptions() jobs.WriterOptions {
	return jobs.WriterOptions{Meter: c.meter, Log: c.log, FilesFailed: c.publications.FilesFailed, Server: c.reqServer}
}

// reqServer is the ReqServer, which others tell what has become of their part of a request; nil: it has not started.
func (c *core) reqServer() *supervisor.Ref {
	ref, _ := c.tree.Load().Lookup(nameReqServer)
	return ref
}

// exchange hands a request to the ReqServer as if it had come from the request port.
func (c *core) exchange(ctx context.Context, frame []byte) ([]byte, error) {
	server := c.reqServer()
	if server == nil {
		return nil, supervisor.ErrGone
	}
	return reqserver.Exchange(ctx, server, frame)
}

// checkKeys has Maintenance look at the keys.
func (c *core) checkKeys() {
	if ref, ok := c.tree.Load().Lookup(nameMaintenance); ok {
		ref.Send(&maintenance.CheckKeys{})
	}
}

func (c *core) workerOptions() *workers.WorkerOptions {
	return &workers.WorkerOptions{Auth: c.auth, SignIns: c.signIns, Handlers: c.handlers, Pools: c.pools, Rules: c.rules,
		Complaints: c.complaints, Meter: c.meter, Events: c.events, Stats: c.cfg.MasterStats,
		StatsEvery: c.cfg.MasterStatsEventIter, Log: c.log}
}

func (c *core) reqOptions() reqserver.Options {
	cfg, opt := c.cfg, c.workerOptions()
	return reqserver.Options{
		Listener: func() transport.RequestServer {
			return zmq.NewRouter(zmq.RouterOptions{
				Endpoint: zmq.BindEndpoint(cfg.Interface, cfg.RetPort), IPv6: cfg.IPv6, Backlog: cfg.ZMQBacklog,
				HeartbeatIvl: cfg.ZMQHeartbeatIvl, HeartbeatTimeout: cfg.ZMQHeartbeatTimeout,
				MaxPeers: c.ports.MaxPeers(), OnFull: ports.Full(c.log, cfg.RetPort), MaxMessage: c.ports.MaxMessage,
				Guard: c.ports.Guard, OnRefused: c.ports.PeerRefused,
			})
		},
		Pools: c.pools, QueueMax: cfg.RequestQueueMax, BytesMax: c.ports.RequestBytes, Timeout: cfg.RequestTimeout,
		Meter: c.meter, Warn: c.complaints.Warn, Log: c.log,
		Nest: supervisor.Options{Pool: true},
		Worker: func(name string, pool int, server *supervisor.Ref) supervisor.Actor {
			return workers.NewWorker(opt, name, pool, server)
		},
	}
}

// checksWaiting is how much waits for Maintenance before it need not be told once more to look at the keys.
const checksWaiting = 8

// readerBytes is how many bytes of events wait for one reader of the bus that does not read.
const readerBytes = 8 << 20

// busOptions are those of the configuration.
func (c *core) busOptions() eventbus.PublisherOptions {
	cfg := c.cfg
	framing := ipc.FramingPlain
	if cfg.IPCFraming == "length" {
		framing = ipc.FramingLength
	}
	sock := func(name string) string { return filepath.Join(cfg.SockDir, name) }
	young, err := event.Pack(event.TagNudge, payload.NewMap(0), 0)
	if err != nil { // a constant: it packs
		c.log.Error("event cannot be packed", "tag", event.TagNudge, "err", err)
	}
	return eventbus.PublisherOptions{
		Young: young, Meter: c.meter,
		Open: func(subs *bus.Subscribers) *bus.Bus {
			return bus.New(
				ipc.PubOptions{Path: sock(event.MasterPubSocket), Mode: 0o660, Framing: framing,
					Queue: cfg.EventQueueMax, QueueBytes: readerBytes, Logger: c.log},
				ipc.PullOptions{Path: sock(event.MasterPullSocket), Mode: 0o600, Logger: c.log}, subs)
		},
		OnKeys: func() {
			if ref, ok := c.tree.Load().Lookup(nameMaintenance); ok && ref.Depth() < checksWaiting {
				ref.Send(&maintenance.CheckKeys{})
			}
		},
	}
}

// quarantined tells the bus of a message that was set aside.
func (c *core) quarantined(q stats.Quarantined) {
	if _, ok := c.tree.Load().Lookup(nameEventPublisher); ok {
		if body := c.events.Pack(tagQuarantine, payload.M("actor", q.Path, "message", q.Message, "hash", q.Hash, "size",
			q.Size, "reason", q.Reason)); body != nil {
			c.events.PutNow(body) // the supervisor waits for nobody
		}
	}
}

// supervised are the options of the tree that come from the configuration.
func (c *core) supervised() supervisor.Options {
	cfg := c.cfg
	return supervisor.Options{
		Name: "master", Logger: c.log, RestartDelayMax: cfg.RestartDelayMax, WaitForKill: cfg.StopTimeout,
		Chaos: cfg.Chaos, WorkerTimeout: reqserver.WorkerTimeout(cfg.WorkerTimeout, cfg.RequestTimeout),
		ComponentTimeout: cfg.ComponentTimeout, HistoryFile: filepath.Join(cfg.CacheDir, deathsFile),
		OnQuarantine: c.quarantined,
	}
}
