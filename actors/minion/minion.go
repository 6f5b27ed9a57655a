package minion

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"brine/actors/daemon"
	"brine/actors/minion/facts"
	"brine/actors/minion/link"
	"brine/actors/minion/meter"
	"brine/actors/minion/returns"
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
	Grains   func(fresh bool) facts.Grains // fresh ones are read past the grains that are kept in a file
	// Match tells whether a publication means this minion, of which nobody has asked anything yet.
	Match func(job *payload.Job, about matchers.Facts) bool
	// Returners are those that jobs may name; nil: there are none.
	Returners *loader.Registry
	// Complete adds to the surroundings of functions what the minion itself does not have; nil: nothing.
	Complete func(*loader.Env)
	// OwnPillar compiles the pillar on this machine (file_client: local); nil: masters do.
	OwnPillar func(*loader.Env) loader.PillarSource
	Exit      func(link.Exit) // asked to end the process
	Ready     func()          // told once, when the first master can send jobs; may be nil
	OnDeath   func(stats.Death)
	Metrics   prometheus.Registerer // takes the counters of the minion; nil: it counts nothing
	// Predecessor is what ended the process of the minion before this one, where that is known.
	Predecessor string
	// Worker says how the processes of jobs are started (multiprocessing: True); the zero value is this program.
	Worker jobprocess.Options

	// Of tests:
	transport   func(config.MasterAddr) (link.Transport, error)
	launch      launcher
	room        roomSources
	elapsed     func() time.Duration // since the start, whatever the clock says; nil: by the clock
	bounds      *bounds              // nil: as they are
	takeForSalt bool                 // masters are taken for those of Salt
	// journal.patience takes the place of the constant; 0: it does not.
	journalPatience time.Duration
	// stands before the actors that do not end; nil: nothing
	around func(name string, inner supervisor.Actor) supervisor.Actor
}

// Minion is a running minion.
type Minion struct {
	opt       Options
	cfg       *config.Minion
	own       ownOptions
	times     *link.LatestTimes
	log       *slog.Logger
	clock     supervisor.Clock
	top       *supervisor.Supervisor
	jobs      *daemon.Tree
	links     []*link.Link
	waits     map[*link.Link]*returns.Waiting
	facts     *facts.Facts
	meter     *meter.Meter
	diary     *ledger.Diary
	ownPillar loader.PillarSource        // nil: masters compile the pillar
	envs      map[*link.Link]*loader.Env // of jobs of a master; nil: of none
	job       *jobOptions

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
	m := &Minion{opt: opt, cfg: opt.Config, own: ownOptionsOf(opt.Config), times: &link.LatestTimes{}, log: opt.Logger,
		clock: opt.Clock, envs: map[*link.Link]*loader.Env{},
		waits: map[*link.Link]*returns.Waiting{}, diary: ledger.NewDiary(diaryJobs)}
	m.times.Store(timesOf(opt.Config))
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
	var err error
	if m.meter, err = meter.New(m.meterOptions()); err != nil {
		return nil, err
	}
	if err := m.makeLinks(); err != nil {
		return nil, err
	}
	m.makeEnvs()
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

// meter.Options are what is counted, and what there is at a moment.
func (m *Minion) meterOptions() meter.Options {
	opt := meter.Options{Registry: m.opt.Metrics, Known: m.knows, Journal: m.journalPath(),
		Buckets:   m.cfg.MetricsOptions().Boundaries["salt.minion.exec.duration"],
		Functions: func() int { return len(m.opt.Registry.Names()) },
		Masters: func() (all []meter.Master) {
			for _, l := range m.links {
				all = append(all, meter.Master{Name: l.Name(), Connected: l.Connected(),
					Returns: m.waits[l].Returns.Load(), Bytes: m.waits[l].Bytes.Load()})
			}
			return all
		}}
	for _, addr := range m.cfg.Masters {
		opt.Names = append(opt.Names, link.NameOf(addr))
	}
	return opt
}

// knows tells whether there is such a function.
func (m *Minion) knows(fun string) bool {
	_, ok := m.opt.Registry.Lookup(fun)
	return ok
}

// makeLinks makes the connections, one for each master of the configuration.
func (m *Minion) makeLinks() error {
	seen := map[string]bool{}
	for _, addr := range m.cfg.Masters {
		signIn, err := m.opt.SignIn(addr)
		if err != nil {
			return fmt.Errorf("master %s: %w", addr.Host, err)
		}
		name, plain := link.NameOf(addr), link.PlainName(addr.Host)
		if seen[name] {
			continue // named twice
		}
		opt := linkOptionsOf(m.cfg)
		opt.Master, opt.Twin, opt.Auth = addr, seen[plain], signIn
		seen[name], seen[plain] = true, true
		if m.opt.transport != nil {
			opt.Wire, err = m.opt.transport(addr)
		} else {
			opt.Wire, err = link.NewTransport(transportOptionsOf(m.cfg), addr, m.opt.Context, m.clock)
		}
		if err != nil {
			return fmt.Errorf("master %s: %w", addr.Host, err)
		}
		m.addLink(opt)
	}
	return nil
}

// addLink makes a connection; opt is what the configuration says of it.
func (m *Minion) addLink(opt link.Options) {
	waits := &returns.Waiting{}
	opt.Log = m.log.With("master", opt.Master.Host)
	opt.Coming, opt.Asking = m.boundsOf(waits, opt.Log)
	opt.Held, opt.HeldBytes = m.bounds.held, m.bounds.heldBytes
	opt.Times, opt.Meter, opt.Diary, opt.Clock, opt.Exit = m.times, m.meter, m.diary, m.clock, m.opt.Exit
	opt.TakeForSalt = m.opt.takeForSalt
	opt.Sender, opt.Ready = supervisor.NewRef(), m.onReady
	opt.Deliver = func(ctx supervisor.Context, p link.Publication) {
		supervisor.Send(ctx, m.dispatcher, &JobReceived{Publication: p, to: m.dispatcher})
	}
	opt.Pillar = func(l *link.Link, done func(error)) { m.refresher.Send(&facts.RefreshPillar{Link: l, Done: done}) }
	l := link.New(opt)
	m.links, m.waits[l] = append(m.links, l), waits
}

// makeEnvs makes the facts, and what functions run in.
func (m *Minion) makeEnvs() {
	m.facts = facts.New(facts.Options{Compute: m.opt.Grains, Options: m.cfg.Raw, Masters: m.links})
	m.envs[nil] = m.newEnv(nil)
	if m.opt.OwnPillar != nil {
		m.ownPillar = m.opt.OwnPillar(m.envs[nil])
	}
	m.opt.Registry.On(m.envs[nil])
	for _, l := range m.links {
		m.envs[l] = m.newEnv(l)
	}
}

// newEnv is what functions run in that belong to a master, or to none.
func (m *Minion) newEnv(l *link.Link) *loader.Env {
	see := m.facts.Of(l)
	env := &loader.Env{Registry: m.opt.Registry, ID: m.cfg.ID, Opts: see.Options, Grains: see.Grains,
		GrainOf: see.Grain, Pillar: see.Pillar, Host: hostOf(host{m, l})}
	if m.opt.Complete != nil {
		m.opt.Complete(env)
	}
	return env
}

func (m *Minion) envOf(l *link.Link) *loader.Env { return m.envs[l] }

func (m *Minion) dispatcherOptions(mem memory) dispatcherOptions {
	return dispatcherOptions{
		id: m.cfg.ID, seenMost: m.cfg.MinionJIDQueueHWM, seenFor: m.cfg.MinionJIDQueueAge, queueMost: m.cfg.JobQueueMax,
		jobs: m.jobs.Supervisor, links: m.links, reg: &registry{}, past: mem.past, diary: m.diary, tell: m.tellOf,
		meter: m.meter, clock: m.clock, log: m.log,
		gathering: func() bool { return m.facts.Known() == nil },
		match: func(job *payload.Job, l *link.Link) bool {
			see := m.facts.Of(l)
			return m.opt.Match(job, matchers.Facts{ID: m.cfg.ID, Grains: see.Grains, Grain: see.Grain,
				Pillar: see.Pillar})
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
	opt := &jobOptions{id: m.own.id, env: m.envOf, journal: m.journal, proc: m.procDir(), queue: m.jobQueue(),
		clock: m.clock, started: m.jobStarted, crashed: m.jobCrashed, pubRet: m.cfg.PubRet, ended: m.opt.Predecessor,
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

// Exit is why a minion's process has to end.
type Exit = link.Exit

// Grains are the grains of this host at one moment.
type Grains = facts.Grains
