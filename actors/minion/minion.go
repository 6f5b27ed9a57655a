package minion

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"brine/actors/daemon"
	"brine/actors/minion/facts"
	"brine/actors/minion/jobs"
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
	"brine/wire/transport"

	"github.com/prometheus/client_golang/prometheus"
)

// askTimeout bounds the questions that functions ask the Dispatcher.
const askTimeout = 5 * time.Second

// Options are a minion's configuration and what the daemon has put together for it.
type Options struct {
	Config   *config.Minion
	Logger   *slog.Logger
	Network  transport.Network                             // on which masters are reached
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
	transport   func(config.MasterAddr) link.Transport
	launch      jobs.Launcher
	room        jobs.Machine
	elapsed     func() time.Duration // since the start, whatever the clock says; nil: by the clock
	bounds      *bounds              // nil: as they are
	takeForSalt bool                 // masters are taken for those of Salt
	mostReturn  int                  // bytes of a return; 0: as it is
	// journalPatience takes the place of that of the journal; 0: it does not.
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
	jobs      *jobs.Jobs
	links     []*link.Link
	waits     map[*link.Link]*returns.Waiting
	facts     *facts.Facts
	meter     *meter.Meter
	diary     *ledger.Diary
	ownPillar loader.PillarSource        // nil: masters compile the pillar
	envs      map[*link.Link]*loader.Env // of jobs of a master; nil: of none

	bounds bounds
	bell   *daemon.Bell // rings when a request to a master or an event has left its place
	heeded *daemon.Bell // rings when the Dispatcher has looked at a message, or a ReturnSender has fewer returns
	steady *steady.Clock

	plan      *plan
	reactions *reactions // nil: the Reactor is not among the engines

	bus *daemon.Bus

	journal, refresher, scheduler, files *supervisor.Ref
	returners, mine                      *supervisor.Ref // nil: there is none

	orphans int // jobs that ran when the process before this one ended
}

// Start starts the children and returns at once: the connections are made behind the caller's back. On an
// error nothing of the minion is left running.
func Start(opt Options) (*Minion, error) {
	m := &Minion{opt: opt, cfg: opt.Config, own: ownOptionsOf(opt.Config), times: &link.LatestTimes{}, log: opt.Logger,
		clock: opt.Clock, envs: map[*link.Link]*loader.Env{},
		waits: map[*link.Link]*returns.Waiting{}, diary: ledger.NewDiary(jobs.DiaryJobs)}
	m.times.Store(timesOf(opt.Config))
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
	m.orphans = mem.Orphans()
	m.jobs = jobs.New(m.jobsOptions(mem))
	if err := m.spawn(mem); err != nil {
		m.top.Stop(m.cfg.StopTimeout)
		err = errors.Join(err, m.reactions.close())
		if m.journal.Path() == "" && mem.File != nil { // the Journal was not added
			err = errors.Join(err, mem.File.Close())
		}
		return nil, err
	}
	m.jobs.AnswerForLost()
	return m, nil
}

// makeRefs makes what the actors know each other by.
func (m *Minion) makeRefs() {
	m.bell, m.heeded = &daemon.Bell{}, &daemon.Bell{}
	m.bus = daemon.NewBus(m.busBound())
	for _, ref := range []**supervisor.Ref{&m.journal, &m.refresher, &m.scheduler, &m.files} {
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
			opt.Wire = m.opt.transport(addr)
		} else {
			opt.Wire = link.NewTransport(transportOptionsOf(m.cfg, m.opt.Network), addr, m.clock)
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
		m.jobs.Receive(ctx, p)
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

// jobs.Options are what jobs need of this minion. left is what the process before this one has left.
func (m *Minion) jobsOptions(left jobs.Memory) jobs.Options {
	opt := jobs.Options{ID: m.cfg.ID, CacheDir: m.cfg.CacheDir, SeenMost: m.cfg.MinionJIDQueueHWM,
		SeenFor: m.cfg.MinionJIDQueueAge, QueueMost: m.cfg.JobQueueMax, QueueBytes: m.bounds.queueBytes,
		Most: m.cfg.ProcessCountMax, Actors: m.bounds.actors, Processes: m.cfg.Multiprocessing, Room: m.opt.room,
		PubRet: m.cfg.PubRet, Cache: m.cfg.CacheJobs, MostReturn: m.opt.mostReturn, Ended: m.opt.Predecessor,
		Links: m.links, Env: m.envOf, Left: left, Journal: m.journal, Copies: m.returners, Returners: m.opt.Returners,
		Returns: m.cfg.Return, Disabled: m.own.disabled, Fire: m.fire, Diary: m.diary, Meter: m.meter, Heeded: m.heeded,
		Clock: m.clock, Log: m.log, Gathering: func() bool { return m.facts.Known() == nil },
		Match: func(job *payload.Job, l *link.Link) bool {
			see := m.facts.Of(l)
			return m.opt.Match(job, matchers.Facts{ID: m.cfg.ID, Grains: see.Grains, Grain: see.Grain,
				Pillar: see.Pillar})
		}}
	if m.cfg.Multiprocessing {
		own := m.opt.Worker
		own.Limits = jobprocess.Limits{Memory: m.cfg.JobMemoryLimit, CPU: m.cfg.JobCPULimit}
		if opt.Launch = m.opt.launch; opt.Launch == nil {
			opt.Launch = jobprocess.New(own)
		}
	} else if m.cfg.JobMemoryLimit > 0 || m.cfg.JobCPULimit > 0 {
		m.log.Warn("job_memory_limit and job_cpu_limit have no effect without multiprocessing: True")
	}
	return opt
}

// remember is what the process before this one has left.
func (m *Minion) remember() jobs.Memory {
	return jobs.Remember(jobs.RememberOptions{CacheDir: m.cfg.CacheDir, Keep: m.cfg.MinionJIDQueueAge,
		Sync: m.cfg.JournalFsync, Patience: m.opt.journalPatience, Links: m.links, Diary: m.diary, Calm: m.steady.Calm,
		Clock: m.clock,
		Log:   m.log})
}

// JobList tells what this minion has in hand.
func (m *Minion) JobList(ctx context.Context) (*payload.Map, error) { return m.jobs.List(ctx) }

// JobFacts is what this minion knows of a job, and of the publications that it could not open.
func (m *Minion) JobFacts(jid string) *payload.Map { return m.jobs.Facts(jid) }

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
