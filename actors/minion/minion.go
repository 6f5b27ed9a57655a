package minion

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"brine/config"
	"brine/modules"
	"brine/modules/fleet/ledger"
	"brine/modules/host/jobprocess"
	"brine/modules/host/program"
	"brine/modules/host/steady"
	"brine/modules/matchers"
	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/auth"
	"brine/wire/bus"
	"brine/wire/payload"
	"brine/wire/zmq"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"
)

// askTimeout bounds the questions that functions ask the Dispatcher.
const askTimeout = 5 * time.Second

// Options are a minion's configuration and what the daemon has put together for it.
type Options struct {
	Config   *config.Minion
	Logger   *slog.Logger
	Context  *zmq.Context
	Clock    supervisor.Clock                              // default: the real one
	SignIn   func(config.MasterAddr) (*auth.Minion, error) // the sign-in state towards one master
	Registry *modules.Registry
	Grains   func(fresh bool) Grains // fresh ones are read past the grains that are kept in a file
	// Match tells whether a publication means this minion, of which nobody has asked anything yet.
	Match func(load *payload.Map, about matchers.Facts) bool
	// Returner calls one returner that a job names; nil: there are none.
	Returner func(ctx context.Context, name string, ret *payload.Map) error
	// Complete adds to the surroundings of functions what the minion itself does not have; nil: nothing.
	Complete func(*modules.Env)
	Exit     func(Exit) // asked to end the process
	Ready    func()     // told once, when the first master can send jobs; may be nil
	OnDeath  func(stats.Death)
	Metrics  prometheus.Registerer // takes the counters of the minion; nil: it counts nothing
	// Predecessor is what ended the process of the minion before this one, where that is known.
	Predecessor string
	// Worker says how the processes of jobs are started (multiprocessing: True); the zero value is this program.
	Worker jobprocess.Options

	// Of tests:
	transport func(config.MasterAddr) (transport, error)
	launch    launcher
	room      roomSources
	elapsed   func() time.Duration                             // since the start, whatever the clock says; nil: by the clock
	bounds    *bounds                                          // nil: as they are
	around    func(name string, inner actor.Actor) actor.Actor // stands before the actors that do not end; nil: nothing
}

// Minion is a running minion.
type Minion struct {
	opt   Options
	cfg   *config.Minion
	times *latestTimes
	log   *slog.Logger
	clock supervisor.Clock
	top   *supervisor.Supervisor
	jobs  *supervisor.Supervisor
	links []*link
	facts *facts
	meter *meter
	diary *ledger.Diary
	env   *modules.Env // without a master
	job   *jobOptions

	bounds bounds
	events *bound
	steady *steady.Clock

	bus, journal, dispatcher, refresher, teller, mine *supervisor.Ref

	wired chan struct{} // closed when all children are known to each other
}

// Start starts the children and returns at once: the connections are made behind the caller's back. On an
// error nothing of the minion is left running.
func Start(opt Options) (*Minion, error) {
	m := &Minion{opt: opt, cfg: opt.Config, times: newTimes(opt.Config), log: opt.Logger, clock: opt.Clock, facts: newFacts(opt.Grains), diary: ledger.NewDiary(diaryJobs), wired: make(chan struct{})}
	if m.opt.room.memory == nil {
		m.opt.room = realRoom()
	}
	if m.clock == nil {
		m.clock = realClock{}
	}
	if m.bounds = defaultBounds(); opt.bounds != nil {
		m.bounds = *opt.bounds
	}
	m.events = m.busBound()
	m.steady = m.newSteady()
	if m.cfg.CommandOutputMaxBytes == 0 { // here: a job's own process does not know the limit of the control group
		m.cfg.Raw.Set("command_output_max_bytes", program.MaxOutput())
	}
	m.env = m.newEnv(nil)
	if err := errors.Join(m.makeLinks(), m.measure()); err != nil {
		return nil, err
	}
	for _, l := range m.links {
		l.meter = m.meter
	}
	m.top = supervisor.Start(supervisor.NewSystem(opt.Logger), m.supervised())
	err := m.spawn()
	close(m.wired)
	if err != nil {
		m.top.Stop(m.cfg.StopTimeout)
		return nil, err
	}
	return m, nil
}

// makeLinks makes the connections, one for each master of the configuration.
func (m *Minion) makeLinks() error {
	seen := map[string]bool{}
	for _, addr := range m.cfg.Masters {
		signIn, err := m.opt.SignIn(addr)
		if err != nil {
			return fmt.Errorf("master %s: %w", addr.Host, err)
		}
		l := &link{cfg: m.cfg, times: m.times, master: addr, auth: signIn, clock: m.clock, log: m.log.With("master", addr.Host)}
		if seen[l.name()] {
			continue // named twice
		}
		l.twin = seen[plainName(addr.Host)]
		seen[l.name()], seen[plainName(addr.Host)] = true, true
		if m.opt.transport != nil {
			l.wire, err = m.opt.transport(addr)
		} else {
			l.wire, err = newZMQTransport(m.cfg, addr, m.opt.Context, m.clock)
		}
		if err != nil {
			return fmt.Errorf("master %s: %w", addr.Host, err)
		}
		l.env = m.newEnv(l)
		m.boundsOf(l)
		m.links = append(m.links, l)
	}
	return nil
}

// newEnv is what functions run in that belong to a master, or to none.
func (m *Minion) newEnv(l *link) *modules.Env {
	env := &modules.Env{Registry: m.opt.Registry, ID: m.cfg.ID, Opts: func() *payload.Map { return m.cfg.Raw },
		Grains: m.facts.grains, GrainOf: m.facts.grain, Host: hostOf(host{m, l})}
	if l != nil {
		env.Pillar = l.pillarData.Load
	}
	if m.opt.Complete != nil {
		m.opt.Complete(env)
	}
	return env
}

func (m *Minion) envOf(l *link) *modules.Env {
	if l == nil {
		return m.env
	}
	return l.env
}

// spawn starts the children in their order.
func (m *Minion) spawn() (err error) {
	mem := m.remember()
	subs := &bus.Subscribers{}
	add := m.adder(m.top, &err)
	part := m.adderOf(m.top, &err, supervisor.Spec{Component: true})
	part(&m.bus, "EventBus", func() actor.Actor {
		return &eventBus{open: m.openBus, subs: subs, handlers: m.busHandlers(), room: m.events}
	})
	store := m.adderOf(m.top, &err, supervisor.Spec{Store: true})
	store(&m.journal, "Journal", func() actor.Actor {
		return &journal{opt: journalOptions{path: m.journalPath(), first: mem.file, sync: m.cfg.JournalFsync, clock: m.clock, log: m.log}}
	})
	if m.journal == nil && mem.file != nil {
		err = errors.Join(err, mem.file.close())
	}
	part(&m.refresher, "Refresher", func() actor.Actor {
		return &refresher{opt: refresherOptions{cfg: m.cfg, facts: m.facts, links: func() []*link { return m.links }, most: m.bounds.refreshes, clock: m.clock, log: m.log}}
	})
	if err == nil {
		m.jobs, err = m.top.AddTree("Jobs", supervisor.Options{WaitForKill: time.Second})
	}
	add(&m.teller, "Teller", func() actor.Actor { return &teller{m: m} })
	m.job = m.newJobOptions()
	opt := m.dispatcherOptions(mem.keys, mem.past)
	part(&m.dispatcher, "Dispatcher", func() actor.Actor { return &dispatcher{opt: opt} })
	if m.cfg.MineEnabled && m.cfg.MineInterval > 0 {
		add(&m.mine, "MineTimer", func() actor.Actor { return &mineTimer{m: m} })
	}
	if err != nil {
		return err
	}
	for _, l := range m.links {
		if err := m.connect(l); err != nil {
			return err
		}
	}
	m.answerFor(mem.lost)
	return nil
}

// adder adds children to a tree until an error comes up. Their actors begin when all children are there.
type adder func(to **supervisor.Ref, name string, make func() actor.Actor)

func (m *Minion) adder(tree *supervisor.Supervisor, err *error) adder {
	return m.adderOf(tree, err, supervisor.Spec{})
}

// adderOf adds children that have their part in a stop.
func (m *Minion) adderOf(tree *supervisor.Supervisor, err *error, spec supervisor.Spec) adder {
	return func(to **supervisor.Ref, name string, make func() actor.Actor) {
		if *err == nil {
			spec.Name, spec.New = name, func() actor.Actor { return &gated{m.wired, m.surround(name, make())} }
			*to, *err = tree.Add(spec)
		}
	}
}

func (m *Minion) surround(name string, inner actor.Actor) actor.Actor {
	if m.opt.around == nil {
		return inner
	}
	return m.opt.around(name, inner)
}

// gated is an actor that begins when its neighbours are known.
type gated struct {
	wired <-chan struct{}
	inner actor.Actor
}

func (g *gated) Receive(ctx actor.Context) {
	if _, ok := ctx.Message().(*actor.Started); ok {
		<-g.wired
	}
	g.inner.Receive(ctx)
}

func (m *Minion) dispatcherOptions(begun map[string]bool, past *pastJobs) dispatcherOptions {
	return dispatcherOptions{
		cfg: m.cfg, jobs: m.jobs, links: m.links, reg: &registry{}, past: past, diary: m.diary, tell: m.tellOf, meter: m.meter, clock: m.clock, log: m.log,
		gathering: func() bool { return m.facts.now.Load() == nil },
		match: func(load *payload.Map, l *link) bool {
			return m.opt.Match(load, matchers.Facts{ID: m.cfg.ID, Grains: m.facts.grains, Grain: m.facts.grain, Pillar: l.pillarData.Load})
		},
		job: func(rec *jobRecord) func() actor.Actor {
			return func() actor.Actor { return &job{opt: m.job, rec: rec} }
		},
		begun: func(key string) bool { return begun[key] },
		queue: m.jobQueue(), room: newRoom(m.cfg, m.opt.room), bounds: m.bounds,
	}
}

func (m *Minion) jobQueue() jobQueue {
	return jobQueue(filepath.Join(m.cfg.CacheDir, config.JobQueues))
}

func (m *Minion) newJobOptions() *jobOptions {
	opt := &jobOptions{env: m.envOf, journal: m.journal, proc: m.procDir(), queue: m.jobQueue(), clock: m.clock,
		started: m.jobStarted, crashed: m.jobCrashed, pubRet: m.cfg.PubRet, ended: m.opt.Predecessor, mostReturn: mostReturn, diary: m.diary, tell: m.tellOf, meter: m.meter, log: m.log}
	if m.cfg.Multiprocessing {
		own := m.opt.Worker
		own.Limits = jobprocess.Limits{Memory: m.cfg.JobMemoryLimit, CPU: m.cfg.JobCPULimit}
		if opt.launch = m.opt.launch; opt.launch == nil {
			opt.launch = jobprocess.New(own)
		}
	} else if m.cfg.JobMemoryLimit > 0 || m.cfg.JobCPULimit > 0 {
		m.log.Warn("job_memory_limit and job_cpu_limit have no effect without multiprocessing: True")
	}
	if m.cfg.CacheJobs {
		opt.cache = m.cacheJob
	}
	if m.opt.Returner != nil {
		opt.extra, opt.returns = m.callReturners, len(m.cfg.Return) > 0
	}
	return opt
}

// Supervisor is the root of the actor tree, for the admin command.
func (m *Minion) Supervisor() *supervisor.Supervisor { return m.top }
