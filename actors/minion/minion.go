package minion

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"brine/actors/daemon"
	"brine/config"
	"brine/modules/fleet/ledger"
	"brine/modules/host/jobprocess"
	"brine/modules/host/program"
	"brine/modules/host/steady"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/auth"
	"brine/wire/payload"
	"brine/wire/zmq"

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
	Registry *loader.Registry
	Grains   func(fresh bool) Grains // fresh ones are read past the grains that are kept in a file
	// Match tells whether a publication means this minion, of which nobody has asked anything yet.
	Match func(job *payload.Job, about matchers.Facts) bool
	// Returners are those that jobs may name; nil: there are none.
	Returners *loader.Registry
	// Complete adds to the surroundings of functions what the minion itself does not have; nil: nothing.
	Complete func(*loader.Env)
	// OwnPillar compiles the pillar on this machine (file_client: local); nil: masters do.
	OwnPillar func(*loader.Env) loader.PillarSource
	Exit      func(Exit) // asked to end the process
	Ready     func()     // told once, when the first master can send jobs; may be nil
	OnDeath   func(stats.Death)
	Metrics   prometheus.Registerer // takes the counters of the minion; nil: it counts nothing
	// Predecessor is what ended the process of the minion before this one, where that is known.
	Predecessor string
	// Worker says how the processes of jobs are started (multiprocessing: True); the zero value is this program.
	Worker jobprocess.Options

	// Of tests:
	transport func(config.MasterAddr) (carrier, error)
	launch    launcher
	room      roomSources
	elapsed   func() time.Duration // since the start, whatever the clock says; nil: by the clock
	bounds    *bounds              // nil: as they are
	// journal.patience takes the place of the constant; 0: it does not.
	journalPatience time.Duration
	// stands before the actors that do not end; nil: nothing
	around func(name string, inner supervisor.Actor) supervisor.Actor
}

// Minion is a running minion.
type Minion struct {
	opt      Options
	cfg      *config.Minion
	own      ownOptions
	compiles ownPillar
	times    *latestTimes
	log      *slog.Logger
	clock    supervisor.Clock
	top      *supervisor.Supervisor
	jobs     *daemon.Tree
	links    []*link
	facts    *facts
	meter    *meter
	diary    *ledger.Diary
	env      *loader.Env // without a master
	job      *jobOptions

	bounds bounds
	bell   *daemon.Bell // rings when a request to a master or an event has left its place
	heeded *daemon.Bell // rings when the Dispatcher has looked at a message, or a ReturnSender has fewer returns
	steady *steady.Clock

	plan      *plan
	reactions *reactions // nil: the Reactor is not among the engines

	bus *daemon.Bus

	journal, dispatcher, refresher, teller, scheduler, files *supervisor.Ref
	returners, mine                                          *supervisor.Ref // nil: there is none

	orphans int // jobs that ran when the process before this one ended
}

// Start starts the children and returns at once: the connections are made behind the caller's back. On an
// error nothing of the minion is left running.
func Start(opt Options) (*Minion, error) {
	m := &Minion{opt: opt, cfg: opt.Config, own: ownOptionsOf(opt.Config), times: newTimes(opt.Config), log: opt.Logger,
		clock: opt.Clock, facts: newFacts(opt.Grains), diary: ledger.NewDiary(diaryJobs)}
	if m.opt.room.memory == nil {
		m.opt.room = realRoom()
	}
	if m.clock == nil {
		m.clock = daemon.RealClock{}
	}
	if m.bounds = defaultBounds(); opt.bounds != nil {
		m.bounds = *opt.bounds
	}
	m.makeRefs()
	m.steady = m.newSteady()
	if m.cfg.CommandOutputMaxBytes == 0 { // here: a job's own process does not know the limit of the control group
		m.cfg.Raw.Set("command_output_max_bytes", program.MaxOutput())
	}
	m.env = m.newEnv(nil)
	if opt.OwnPillar != nil {
		m.compiles.source = opt.OwnPillar(m.env)
	}
	m.opt.Registry.On(m.env)
	if err := errors.Join(m.makeLinks(),
		m.measure(m.cfg.MetricsOptions().Boundaries["salt.minion.exec.duration"])); err != nil {
		return nil, err
	}
	for _, l := range m.links {
		l.meter = m.meter
	}
	m.plan = newPlan(m.cfg.Schedule, m.cfg.SchedulerBeforeConnect)
	m.top = supervisor.Start(supervisor.NewSystem(opt.Logger), m.supervised())
	mem := m.remember()
	m.orphans = len(mem.lost)
	if err := m.spawn(mem); err != nil {
		m.top.Stop(m.cfg.StopTimeout)
		err = errors.Join(err, m.reactions.close())
		if m.journal == nil && mem.file != nil {
			err = errors.Join(err, mem.file.Close())
		}
		return nil, err
	}
	m.answerFor(mem.lost)
	return m, nil
}

// makeRefs makes what the actors know each other by.
func (m *Minion) makeRefs() {
	m.bell, m.heeded = &daemon.Bell{}, &daemon.Bell{}
	m.bus = daemon.NewBus(m.busBound())
	m.jobs = daemon.NewTree(supervisor.Options{WaitForKill: time.Second})
	for _, ref := range []**supervisor.Ref{&m.journal, &m.dispatcher, &m.refresher, &m.teller, &m.scheduler,
		&m.files} {
		*ref = supervisor.NewRef()
	}
	if m.opt.Returners != nil {
		m.returners = supervisor.NewRef()
	}
	if m.mines() {
		m.mine = supervisor.NewRef()
	}
}

// makeLinks makes the connections, one for each master of the configuration.
func (m *Minion) makeLinks() error {
	seen := map[string]bool{}
	for _, addr := range m.cfg.Masters {
		signIn, err := m.opt.SignIn(addr)
		if err != nil {
			return fmt.Errorf("master %s: %w", addr.Host, err)
		}
		l := &link{opt: linkOptionsOf(m.cfg), times: m.times, master: addr, auth: signIn, clock: m.clock,
			authenticator: supervisor.NewRef(), subscriber: supervisor.NewRef(), sender: supervisor.NewRef(),
			log: m.log.With("master", addr.Host)}
		if seen[l.name()] {
			continue // named twice
		}
		l.twin = seen[plainName(addr.Host)]
		seen[l.name()], seen[plainName(addr.Host)] = true, true
		if m.opt.transport != nil {
			l.wire, err = m.opt.transport(addr)
		} else {
			l.wire, err = newZMQTransport(transportOptionsOf(m.cfg), addr, m.opt.Context, m.clock)
		}
		if err != nil {
			return fmt.Errorf("master %s: %w", addr.Host, err)
		}
		l.facts = newLinkFacts(m.facts, m.cfg.Raw, addr)
		l.env = m.newEnv(l)
		m.boundsOf(l)
		m.links = append(m.links, l)
	}
	return nil
}

// newEnv is what functions run in that belong to a master, or to none.
func (m *Minion) newEnv(l *link) *loader.Env {
	env := &loader.Env{Registry: m.opt.Registry, ID: m.cfg.ID, Opts: func() *payload.Map { return m.cfg.Raw },
		Grains: m.facts.grains, GrainOf: m.facts.grain, Host: hostOf(host{m, l})}
	if l != nil {
		env.Opts, env.Grains, env.GrainOf = l.facts.options, l.facts.grains, l.facts.grain
	}
	env.Pillar = m.compiles.at(l).Load
	if m.opt.Complete != nil {
		m.opt.Complete(env)
	}
	return env
}

func (m *Minion) envOf(l *link) *loader.Env {
	if l == nil {
		return m.env
	}
	return l.env
}

func (m *Minion) dispatcherOptions(mem memory) dispatcherOptions {
	return dispatcherOptions{
		id: m.cfg.ID, seenMost: m.cfg.MinionJIDQueueHWM, seenFor: m.cfg.MinionJIDQueueAge, queueMost: m.cfg.JobQueueMax,
		jobs: m.jobs.Supervisor, links: m.links, reg: &registry{}, past: mem.past, diary: m.diary, tell: m.tellOf,
		meter: m.meter, clock: m.clock, log: m.log,
		gathering: func() bool { return m.facts.now.Load() == nil },
		match: func(job *payload.Job, l *link) bool {
			return m.opt.Match(job, matchers.Facts{ID: m.cfg.ID, Grains: l.facts.grains, Grain: l.facts.grain,
				Pillar: l.pillarData.Load})
		},
		job: func(rec *jobRecord) func() supervisor.Actor {
			return func() supervisor.Actor { return &job{opt: m.job, rec: rec} }
		},
		begun: func(key string) bool { return mem.keys[key] },
		queue: m.jobQueue(), room: newRoom(m.cfg.ProcessCountMax, m.cfg.Multiprocessing, m.opt.room), bounds: m.bounds,
		heeded: m.heeded,
	}
}

func (m *Minion) jobQueue() jobQueue {
	return jobQueue(filepath.Join(m.cfg.CacheDir, config.JobQueues))
}

func (m *Minion) newJobOptions() *jobOptions {
	opt := &jobOptions{env: m.envOf, journal: m.journal, proc: m.procDir(), queue: m.jobQueue(), clock: m.clock,
		started: m.jobStarted, crashed: m.jobCrashed, pubRet: m.cfg.PubRet, ended: m.opt.Predecessor,
		mostReturn: mostReturn, diary: m.diary, tell: m.tellOf, meter: m.meter, log: m.log}
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
		opt.cache = func(jid string, ret *payload.Return) error { return cacheJob(m.cfg.CacheDir, jid, ret) }
	}
	if m.opt.Returners != nil {
		opt.extra, opt.uncalled, opt.returners, opt.returns = m.copies, m.uncalled, m.returners, len(m.cfg.Return) > 0
	}
	return opt
}

// Orphans is how many jobs ran when the process before this one ended; this one answers for them.
func (m *Minion) Orphans() int { return m.orphans }

// Supervisor is the root of the actor tree, for the admin command.
func (m *Minion) Supervisor() *supervisor.Supervisor { return m.top }

// newSteady watches the clock of this machine.
func (m *Minion) newSteady() *steady.Clock {
	began := m.clock.Now()
	look := func() (time.Time, time.Duration) {
		now := m.clock.Now()
		if m.opt.elapsed != nil {
			return now, m.opt.elapsed()
		}
		return now, now.Sub(began)
	}
	return steady.New(look, func(jump time.Duration) {
		m.log.Warn("the clock of this machine was set: nothing is removed for its age for a while", "by", jump, "while",
			steady.Rest)
	})
}
