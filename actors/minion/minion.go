package minion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"brine/config"
	"brine/modules"
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

// askTimeout bounds the questions that functions ask the Dispatcher.
const askTimeout = 5 * time.Second

// Options are a minion's configuration and what the daemon has put together for it.
type Options struct {
	Config   *config.Minion
	Logger   *slog.Logger
	Context  *zmq.Context
	SignIn   func(config.MasterAddr) (*auth.Minion, error) // the sign-in state towards one master
	Registry *modules.Registry
	Grains   func(ctx context.Context) *payload.Map // computes all grains
	// Match tells whether a publication means this minion.
	Match func(load, grains, pillar *payload.Map) bool
	// Returner calls one returner that a job names; nil: there are none.
	Returner func(ctx context.Context, name string, ret *payload.Map) error
	Exit     func(Exit) // asked to end the process; called at most once per cause
	OnDeath  func(stats.Death)
}

// Minion is a running minion.
type Minion struct {
	opt   Options
	cfg   *config.Minion
	log   *slog.Logger
	top   *supervisor.Supervisor
	links []*link
	facts *facts
	env   *modules.Env

	bus, dispatcher, refresher *supervisor.Ref
}

// Start starts the children and returns at once: the connections are made behind the caller's back. On an
// error nothing of the minion is left running.
func Start(opt Options) (*Minion, error) {
	m := &Minion{opt: opt, cfg: opt.Config, log: opt.Logger, facts: &facts{}}
	m.facts.grains.Store(opt.Grains(context.Background()))
	m.facts.pillar.Store(payload.NewMap(0))
	m.env = &modules.Env{
		Registry: opt.Registry, ID: m.cfg.ID, Opts: func() *payload.Map { return m.cfg.Raw },
		Grains: m.facts.grains.Load, Pillar: m.facts.pillar.Load,
		Host: modules.Host{Master: host{m}, Events: host{m}, Jobs: host{m}, Minion: host{m}, Log: host{m}, Secrets: host{m}},
	}
	m.top = supervisor.Start(supervisor.NewSystem(opt.Logger), supervisor.Options{
		Name: "minion", Logger: opt.Logger, RestartDelayMax: m.cfg.RestartDelayMax, WaitForKill: m.cfg.StopTimeout,
		OnDeath: opt.OnDeath, Chaos: m.cfg.Chaos,
	})
	if err := m.spawn(); err != nil {
		m.top.Stop(m.cfg.StopTimeout)
		return nil, err
	}
	return m, nil
}

func (m *Minion) spawn() (err error) {
	for _, addr := range m.cfg.Masters {
		signIn, err := m.opt.SignIn(addr)
		if err != nil {
			return fmt.Errorf("master %s: %w", addr.Host, err)
		}
		m.links = append(m.links, newLink(m.cfg, addr, signIn, m.opt.Context, m.log))
	}
	subs := &bus.Subscribers{}
	if m.bus, err = m.top.Add(supervisor.Spec{Name: "EventBus", New: func() actor.Actor {
		return &eventBus{open: m.openBus, subs: subs, handle: m.busHandlers()}
	}}); err != nil {
		return err
	}
	if m.refresher, err = m.top.Add(supervisor.Spec{Name: "Refresher", New: func() actor.Actor {
		return &refresher{opt: refresherOptions{cfg: m.cfg, facts: m.facts, compute: m.opt.Grains, links: m.links, log: m.log}}
	}}); err != nil {
		return err
	}
	jobs, err := m.top.AddTree("Jobs", supervisor.Options{WaitForKill: time.Second})
	if err != nil {
		return err
	}
	reg := &registry{}
	if m.dispatcher, err = m.top.Add(supervisor.Spec{Name: "Dispatcher", New: func() actor.Actor {
		return &dispatcher{opt: dispatcherOptions{cfg: m.cfg, match: m.match, jobs: jobs, job: m.newJob, reg: reg, log: m.log}}
	}}); err != nil {
		return err
	}
	for _, l := range m.links {
		if err := m.connect(l); err != nil {
			return err
		}
	}
	if m.cfg.MineEnabled && m.cfg.MineInterval > 0 {
		if _, err := m.top.Add(supervisor.Spec{Name: "MineTimer", New: func() actor.Actor { return &mineTimer{m: m} }}); err != nil {
			return err
		}
	}
	return m.answerOrphans()
}

// connect starts the subtree of one master.
func (m *Minion) connect(l *link) error {
	tree, err := m.top.AddTree("Master-"+l.name(), supervisor.Options{})
	if err != nil {
		return err
	}
	dir := filepath.Join(m.cfg.CacheDir, "spool", l.name())
	if l.sender, err = tree.Add(supervisor.Spec{Name: "ReturnSender", New: func() actor.Actor {
		return &returnSender{opt: returnSenderOptions{link: l, log: l.log,
			spool: &spool{dir: dir, maxBytes: m.cfg.ReturnSpoolMaxBytes, maxAge: m.cfg.ReturnSpoolMaxAge}}}
	}}); err != nil {
		return err
	}
	if l.subscriber, err = tree.Add(supervisor.Spec{Name: "Subscriber", New: func() actor.Actor {
		return &subscriber{opt: subscriberOptions{link: l, log: l.log, dispatcher: func() *supervisor.Ref { return m.dispatcher },
			onLink: func(up bool) { m.onLink(l, up) }}}
	}}); err != nil {
		return err
	}
	l.authenticator, err = tree.Add(supervisor.Spec{Name: "Authenticator", New: func() actor.Actor {
		return &authenticator{opt: authenticatorOptions{link: l, log: l.log, exit: m.opt.Exit,
			subscriber: func() *supervisor.Ref { return l.subscriber },
			onAccepted: func(auth.Step) { m.refresher.Send(&RefreshPillar{Link: l}) }}}
	}})
	return err
}

// onLink fires the start events each time the publish port is reached.
func (m *Minion) onLink(l *link, up bool) {
	if !up {
		l.log.Warn("connection to the master lost")
		return
	}
	l.log.Info("Minion is ready to receive requests!")
	text := fmt.Sprintf("Minion %s started at %s", m.cfg.ID, m.now().Format("Mon Jan _2 15:04:05 2006"))
	tags := []string{event.TagMinionStarted(m.cfg.ID)}
	if m.cfg.LegacyStartupEvents {
		tags = append([]string{event.TagMinionStart}, tags...)
	}
	for _, tag := range tags {
		load := payload.M("id", m.cfg.ID, "cmd", payload.CmdMinionEvent, "pretag", nil, "tag", tag, "data", text)
		if len(m.cfg.StartEventGrains) > 0 {
			load.Set("grains", m.someGrains(m.cfg.StartEventGrains))
		}
		l.sender.Send(&SendRequest{Load: load, Done: m.logFailure(tag)})
	}
}

func (m *Minion) someGrains(names []string) *payload.Map {
	out, all := payload.NewMap(len(names)), m.facts.grains.Load()
	for _, n := range names {
		if v, ok := all.Get(n); ok {
			out.Set(n, v)
		}
	}
	return out
}

func (m *Minion) match(load *payload.Map) bool {
	return m.opt.Match(load, m.facts.grains.Load(), m.facts.pillar.Load())
}

func (m *Minion) newJob(load *payload.Map, l *link, lost bool, to *supervisor.Ref) func() actor.Actor {
	opt := jobOptions{env: m.env, proc: m.procDir(), dispatcher: to, sender: func(l *link) *supervisor.Ref { return l.sender },
		started: m.jobStarted, crashed: m.jobCrashed, pubRet: m.cfg.PubRet, log: m.log}
	if m.cfg.CacheJobs {
		opt.cache = m.cacheJob
	}
	if m.opt.Returner != nil {
		opt.extra = m.callReturners
	}
	return func() actor.Actor { return &job{opt: opt, load: load, link: l, lost: lost} }
}

func (m *Minion) procDir() procDir { return procDir(filepath.Join(m.cfg.CacheDir, "proc")) }

// answerOrphans answers for the jobs that a process before this one had begun. Their returns go to the first
// master: the entries do not tell which one asked.
func (m *Minion) answerOrphans() error {
	jobs, err := m.procDir().orphans(alive)
	if err != nil {
		m.log.Error("proc entries cannot be read", "err", err)
	}
	for _, load := range jobs {
		if len(m.links) > 0 {
			m.dispatcher.Send(&LostJob{Load: load, Link: m.links[0]})
		}
	}
	return nil
}

// alive tells whether a process exists that is a minion's, by its command line.
func alive(pid int) bool {
	if pid <= 0 || syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err != nil || bytes.Contains(b, []byte("salt")) || bytes.Contains(b, []byte("brine"))
}

func (m *Minion) now() time.Time { return time.Now() }

func (m *Minion) openBus(subs *bus.Subscribers) *bus.Bus {
	pub, pull, err := event.MinionSockets(m.cfg.ID, m.cfg.HashType)
	if err != nil {
		supervisor.Crash(fmt.Errorf("event bus: %w", err))
	}
	framing := ipc.FramingPlain
	if m.cfg.IPCFraming == "length" {
		framing = ipc.FramingLength
	}
	return bus.New(
		ipc.PubOptions{Path: filepath.Join(m.cfg.SockDir, pub), Framing: framing, Queue: m.cfg.EventQueueMax},
		ipc.PullOptions{Path: filepath.Join(m.cfg.SockDir, pull)}, subs)
}

// Stop ends the minion: no new jobs, running jobs are told to end and answered for by their spool entries.
func (m *Minion) Stop(within time.Duration) (supervisor.Report, error) {
	m.top.StopRestarting()
	report := m.top.Stop(within)
	if len(report.Abandoned) > 0 {
		return report, errors.New("not all actors stopped in time")
	}
	for _, l := range m.links {
		l.close()
	}
	return report, nil
}

// Supervisor is the root of the actor tree, for the admin command.
func (m *Minion) Supervisor() *supervisor.Supervisor { return m.top }
