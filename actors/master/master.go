package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"brine/config"
	"brine/modules/eauth"
	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/auth"
	"brine/wire/bus"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
	"brine/wire/zmq"

	"github.com/asynkron/protoactor-go/actor"
)

// Options are a master's configuration and what the daemon has opened for it.
type Options struct {
	Config  *config.Master
	Logger  *slog.Logger
	Auth    *auth.Master
	Eauth   *eauth.Service
	Keys    keyTree
	Cache   dataCache
	Store   Store
	Tools   Tools
	OnDeath func(stats.Death)
}

// Store is the job store: the JobStore actor is its only writer, workers read.
type Store interface {
	jobWriter
	jobReader
}

// Tools are the functions of other packages that workers call.
type Tools struct {
	RunningUser string
	Expand      func(tgt any, tgtType, delimiter string, greedy bool) (minions, missing []string)
	Glob        func(pattern, text string) bool
	ParseArgs   func(args, noParse []any) []any
	SplitArgs   func(args []any) ([]any, *payload.Map)
	Run         runFunc // runs a runner or wheel function and fires its events
	RevokeKey   func(id string, preserveCache bool) error
	TakeDrop    func() (bool, error)
}

// Master is a running master.
type Master struct {
	top   *supervisor.Supervisor
	core  *core
	files []string // empty files that Salt's tools look for
}

// Start starts the children in Salt's order and returns when both ports are bound. On an error nothing of the
// master is left running.
func Start(opt Options) (*Master, error) {
	ps, err := poolsOf(opt.Config)
	if err != nil {
		return nil, err
	}
	cfg := opt.Config
	top := supervisor.Start(supervisor.NewSystem(opt.Logger), supervisor.Options{
		Name: "master", Logger: opt.Logger, RestartDelayMax: cfg.RestartDelayMax, WaitForKill: cfg.StopTimeout,
		OnDeath: opt.OnDeath, Chaos: cfg.Chaos,
	})
	m := &Master{top: top, core: newCore(opt, ps)}
	m.core.opt.Runners = top
	if err := m.spawn(opt, ps); err != nil {
		top.Stop(cfg.StopTimeout)
		return nil, err
	}
	return m, m.markers()
}

// spawn adds the children; Salt's order is bus after publisher, request server last.
func (m *Master) spawn(opt Options, ps *pools) error {
	c, cfg := m.core, opt.Config
	subs := &bus.Subscribers{}
	last := time.Now()
	specs := []struct {
		ref  **supervisor.Ref
		spec supervisor.Spec
	}{
		{&c.publisherRef, supervisor.Spec{Name: "Publisher", New: func() actor.Actor { return &publisher{opt: publisherOptionsOf(opt)} }}},
		{&c.bus, supervisor.Spec{Name: "EventPublisher", New: func() actor.Actor {
			return &eventPublisher{subs: subs, open: func(s *bus.Subscribers) *bus.Bus { return openBus(cfg, s) }}
		}}},
		{nil, supervisor.Spec{Name: "Maintenance", New: func() actor.Actor { return &maintenance{opt: m.maintenanceOptionsOf(opt, &last)} }}},
		{&c.jobs, supervisor.Spec{Name: "JobStore", New: func() actor.Actor {
			return &jobStore{opt: jobStoreOptions{store: opt.Store, log: opt.Logger}}
		}}},
		{nil, supervisor.Spec{Name: "ReqServer", New: func() actor.Actor { return &reqServer{opt: m.reqOptionsOf(opt, ps)} }}},
	}
	ready, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for _, s := range specs {
		ref, err := m.top.Add(s.spec)
		if err != nil {
			return fmt.Errorf("start %s: %w", s.spec.Name, err)
		}
		if s.ref != nil {
			*s.ref = ref
		}
		if s.spec.Name == "Maintenance" { // it sends to the JobStore
			continue
		}
		if err := ref.Ready(ready); err != nil {
			return fmt.Errorf("start %s: %w", s.spec.Name, err)
		}
	}
	return nil
}

// startTimeout bounds the start of one child, the binding of its sockets included.
const startTimeout = 10 * time.Second

func newCore(opt Options, ps *pools) *core {
	c := &core{cfg: opt.Config, auth: opt.Auth, eauth: opt.Eauth, keys: opt.Keys, cache: opt.Cache, store: opt.Store,
		jids: &jidClock{}, pools: ps, log: opt.Logger}
	t := opt.Tools
	c.opt = coreOptions{RunningUser: t.RunningUser, LegacyJobEvent: true, Expand: t.Expand, Glob: t.Glob, ParseArgs: t.ParseArgs,
		SplitArgs: t.SplitArgs, RevokeKey: t.RevokeKey, Collect: c.collect, Run: t.Run}
	return c
}

func publisherOptionsOf(opt Options) publisherOptions {
	cfg := opt.Config
	return publisherOptions{
		open: func() pubSocket {
			return zmq.NewPub(zmq.PubOptions{
				Endpoint: zmq.BindEndpoint(cfg.Interface, cfg.PublishPort), IPv6: cfg.IPv6, Backlog: cfg.ZMQBacklog, HWM: cfg.PubHWM,
				Keepalive: keepaliveOf(cfg), HeartbeatIvl: cfg.ZMQHeartbeatIvl, HeartbeatTimeout: cfg.ZMQHeartbeatTimeout,
			})
		},
		seal: opt.Auth.SealPublication, filter: cfg.ZMQFiltering, syndic: cfg.OrderMasters, log: opt.Logger,
	}
}

func keepaliveOf(cfg *config.Master) *zmq.Keepalive {
	k := &zmq.Keepalive{Idle: cfg.TCPKeepaliveIdle, Count: cfg.TCPKeepaliveCnt, Interval: cfg.TCPKeepaliveIntvl}
	if cfg.TCPKeepalive {
		k.On = 1
	}
	return k
}

func (m *Master) reqOptionsOf(opt Options, ps *pools) reqServerOptions {
	cfg := opt.Config
	return reqServerOptions{
		router: func() *zmq.Router {
			return zmq.NewRouter(zmq.RouterOptions{
				Endpoint: zmq.BindEndpoint(cfg.Interface, cfg.RetPort), IPv6: cfg.IPv6, Backlog: cfg.ZMQBacklog,
				HeartbeatIvl: cfg.ZMQHeartbeatIvl, HeartbeatTimeout: cfg.ZMQHeartbeatTimeout,
			})
		},
		pools: ps, queueMax: cfg.RequestQueueMax, timeout: cfg.RequestTimeout, log: opt.Logger,
		worker: func(name string, pool int, server *supervisor.Ref) *mworker {
			return &mworker{name: name, pool: pool, server: server, pools: ps, core: m.core}
		},
	}
}

// sock is a path below sock_dir.
func sock(cfg *config.Master, name string) string { return filepath.Join(cfg.SockDir, name) }

// markers writes the files whose existence Salt's command line and HTTP API check.
func (m *Master) markers() error {
	for _, name := range []string{"publish_pull.ipc", "workers.ipc"} {
		path := sock(m.core.cfg, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return fmt.Errorf("mark the master as running: %w", err)
		}
		m.files = append(m.files, path)
	}
	health := filepath.Join(m.core.cfg.CacheDir, "health")
	if err := os.MkdirAll(health, 0o755); err != nil {
		return fmt.Errorf("health files: %w", err)
	}
	now := []byte(strconv.FormatInt(time.Now().Unix(), 10))
	for _, name := range []string{"startup", "ready"} {
		if err := os.WriteFile(filepath.Join(health, name), now, 0o644); err != nil {
			return fmt.Errorf("health files: %w", err)
		}
	}
	return nil
}

// Stop ends the master as kill_children does and removes its marker files.
func (m *Master) Stop(within time.Duration) (supervisor.Report, error) {
	m.top.StopRestarting()
	report := m.top.Stop(within)
	var errs []error
	for _, f := range m.files {
		if err := os.Remove(f); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return report, errors.Join(errs...)
}

// Supervisor is the root of the actor tree, for the admin command.
func (m *Master) Supervisor() *supervisor.Supervisor { return m.top }

// Fire puts an event on the master's bus.
func (m *Master) Fire(tag string, data *payload.Map) { m.core.fire(tag, data) }

// openBus makes the two event sockets.
func openBus(cfg *config.Master, subs *bus.Subscribers) *bus.Bus {
	framing := ipc.FramingPlain
	if cfg.IPCFraming == "length" {
		framing = ipc.FramingLength
	}
	return bus.New(
		ipc.PubOptions{Path: sock(cfg, event.MasterPubSocket), Mode: 0o660, Framing: framing, Queue: cfg.EventQueueMax},
		ipc.PullOptions{Path: sock(cfg, event.MasterPullSocket), Mode: 0o600}, subs)
}

// collect waits for the returns of a job on this process' own bus.
func (c *core) collect(ctx context.Context, jid string, ids []string, start func() error, each func(string, *payload.Map)) error {
	waiting := make(map[string]bool, len(ids))
	for _, id := range ids {
		waiting[id] = true
	}
	prefix := "salt/job/" + jid + "/ret/"
	returns := make(chan []byte, len(ids))
	stands := make(chan struct{})
	name := "collect-" + jid
	c.bus.Send(&Subscribe{Name: name, Done: stands, Sink: func(tag string, body []byte) {
		if len(tag) > len(prefix) && tag[:len(prefix)] == prefix {
			select {
			case returns <- body:
			default: // more returns than minions: repeated ones
			}
		}
	}})
	defer c.bus.Send(&Unsubscribe{Name: name})
	select {
	case <-stands:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := start(); err != nil {
		return err
	}
	for len(waiting) > 0 {
		select {
		case body := <-returns:
			_, data, err := event.Unpack(body)
			if err == nil && waiting[data.Str("id")] {
				delete(waiting, data.Str("id"))
				each(data.Str("id"), data)
			}
		case <-ctx.Done():
			return nil // the time is over: what has come is the answer
		}
	}
	return nil
}
