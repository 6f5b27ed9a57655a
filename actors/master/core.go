package master

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"brine/actors/master/answers"
	"brine/actors/master/tracing"
	"brine/config"
	"brine/modules/eauth"
	"brine/modules/fleet/door"
	"brine/modules/fleet/jobstore"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/mine"
	"brine/modules/fleet/quota"
	"brine/modules/fleet/speakers"
	"brine/modules/host/steady"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/bus"
	"brine/wire/payload"
)

// jobReader reads what the job cache holds.
type jobReader interface {
	GetJID(jid string) (*payload.Map, error)
	// Asked is the load of a job that somebody asked this master for, with its minions.
	Asked(jid string) (*payload.Map, error)
	// Announce writes the files in which Salt's own salt command looks for a job as soon as it has its answer.
	Announce(jobstore.Load) error
	// Note keeps a load past the death of the process until it is stored, without such files.
	Note(jobstore.Load) error
}

// core is the parts of a master, and what several of them have in common. It only puts them together.
type core struct {
	cfg          *config.Master
	running      string // user this process belongs to
	log          *slog.Logger
	rules        *atomic.Pointer[rules]                 // who may do what, and what else a reload replaces
	tree         *atomic.Pointer[supervisor.Supervisor] // holds it when the children start
	steady       *steady.Clock
	keys         *keys.Store
	auth         *auth.Master
	book         *ledger.Book // what is known of jobs and minions
	meter        *meter       // nil: nothing is counted
	pools        *pools
	complaints   *complaints
	events       *events
	ports        *ports
	targets      *targets
	attendance   *attendance
	jobs         *jobs
	answers      *answers.Desk
	record       *record
	publications *publications
	functions    *ownFunctions
	files        *files
	reactions    *reactions
	schedules    *schedules
	engines      *engineRoom
	elsewhere    *elsewhere
	pillars      *pillars
	gate         *gate
	signIns      *signIns
	upkeep       *upkeep
	signs        *signs
	desks        *desks
}

// newCore puts the parts together.
func newCore(opt Options, ps *pools, st *stores) (*core, error) {
	cfg, log := opt.Config, opt.Logger
	c := &core{cfg: cfg, running: opt.RunningUser, log: log, keys: st.keys, book: newBook(opt.book), pools: ps,
		signs: &signs{cacheDir: cfg.CacheDir, sockDir: cfg.SockDir, log: log},
		rules: &atomic.Pointer[rules]{}, tree: &atomic.Pointer[supervisor.Supervisor]{},
		complaints: &complaints{log: log},
		steady:     steady.New(steady.Since(time.Now()), nil), // Maintenance tells
		events: newEvents(newBusRoom(cfg.EventBusMax, within(cfg.EventBusMaxBytes, opt.Memory, eventShare), log),
			cfg.MaxEventSize, log)}
	c.book.Peers.Accepted = func(id string) bool { _, ok := st.signIn.Accepted(id); return ok }
	c.rules.Store(newRules(cfg, eauth.New(eauthOptions(cfg, opt.RunningUser, opt.Keys.Local, c.steady.Calm, log))))
	c.ports = newPorts(portOptions{cfg.MaxConnections, cfg.RequestBytesMax, opt.Memory}, c.events, c.complaints, log)
	c.targets = newTargets(st, cfg.MinionDataCache, c.rules, log)
	c.attendance = newAttendance(&c.book.Peers, st.presence, log)
	c.jobs = newJobs(st.jobs, cfg.JobStoreQueueMax, cfg.UniqueJID, c.book, log)
	c.jobs.users = []string{cfg.User, opt.RunningUser}
	if err := c.measure(opt, st); err != nil {
		return nil, err
	}
	voices := newVoices(voiceOptionsOf(cfg), st, log)
	c.gate = newGate(gateOptionsOf(cfg), st, voices, &c.book.Peers, c.events, c.meter, log)
	c.signIns = &signIns{opt: signInOptionsOf(cfg), keys: st.keys, manager: keyManagerOf(cfg, st), voices: voices,
		attendance: c.attendance, peers: &c.book.Peers, events: c.events, complaints: c.complaints, meter: c.meter,
		tree: c.tree, log: log}
	var err error
	if c.auth, err = auth.NewMaster(signInSideOf(opt, st, c.signIns)); err != nil {
		return nil, err
	}
	c.signIns.auth, c.attendance.vouches = c.auth, c.auth.Vouches
	c.follow(opt, st)
	if c.files, err = newFiles(fileOptionsOf(cfg), c.events, log); err != nil {
		return nil, err
	}
	mines := newMines(cfg.Raw, st.cache, c.targets)
	in := inside{opt: insideOptionsOf(cfg, opt.RunningUser), rules: c.rules, targets: c.targets, events: c.events,
		mines: mines, files: c.files, gone: c.answers.Gone, tree: c.tree, log: log}
	if c.functions, err = newOwnFunctions(functionOptionsOf(opt, st), in, st, c.attendance, c.jobs); err != nil {
		return nil, err
	}
	if c.pillars, err = newPillars(cfg.Raw, c.functions.onMaster, c.targets, cfg.RequestTimeout, log); err != nil {
		return nil, err
	}
	c.functions.pillars.Store(c.pillars)
	c.reactions = newReactions(reactionOptionsOf(cfg), optionsAsMinion(cfg, in.log), in, c.functions, c.jobs)
	c.functions.reactor = c.reactions.managed
	if c.engines, err = newEngineRoom(engineOptionsOf(cfg), c); err != nil {
		return nil, err
	}
	if tuning := c.engines.set.Reactor; tuning != nil {
		c.reactions.opt.tune(tuning.Refresh, tuning.Threads, tuning.Queue)
	}
	if err := c.reactions.start(cfg.Raw.Value("reactor")); err != nil {
		return nil, err
	}
	if c.schedules, err = newSchedules(scheduleOptionsOf(cfg, opt.RunningUser), in, c.functions); err != nil {
		return nil, err
	}
	if err := c.giveElsewhere(); err != nil {
		return nil, err
	}
	c.upkeep = &upkeep{opt: upkeepOptionsOf(cfg), data: sweepOf(cfg, st), auth: c.auth, keys: st.keys, rules: c.rules,
		signIns: c.signIns, attendance: c.attendance, targets: c.targets, jobs: c.jobs, publications: c.publications,
		events: c.events, signs: c.signs, log: log}
	if err := c.furnish(st, mines); err != nil {
		return nil, err
	}
	return c, nil
}

// giveElsewhere makes the parts that hand something to returners.
func (c *core) giveElsewhere() (err error) {
	opt := eventReturnOptionsOf(c.cfg)
	opt.call, opt.fire, opt.calm = c.functions.calls, c.events.fire, c.steady.Calm
	opt.subscribe = func(name string, sink bus.Sink) { c.events.ref.Send(&Subscribe{Name: name, Sink: sink}) }
	c.elsewhere = &elsewhere{}
	if c.elsewhere.events, err = newEventReturn(opt, c.log); err != nil {
		return err
	}
	if c.schedules.waiting, err = c.schedules.newScheduledReturns(jobCopyOptionsOf(c.cfg), c.events.fire, c.steady.Calm,
		c.log); err != nil {
		return err
	}
	c.elsewhere.runs = c.schedules.waiting
	c.jobs.copies, err = newJobCopies(jobCopyOptionsOf(c.cfg), c.functions.calls, c.events.fire, c.steady.Calm, c.log)
	if err != nil || c.jobs.copies == nil {
		return err
	}
	c.elsewhere.jobs = c.jobs.copies.part
	if store, ok := c.jobs.store.(*copiedJobs); ok {
		store.to.Store(c.jobs.copies)
	}
	return nil
}

// measure makes the counters, where somebody wants them.
func (c *core) measure(opt Options, st *stores) (err error) {
	if opt.Metrics == nil {
		return nil
	}
	if c.meter, err = newMeter(opt.Metrics, opt.Config.MetricsOptions(), opt.Functions, c.pools); err != nil {
		return err
	}
	l := looks{meter: c.meter, peers: &c.book.Peers, ports: c.ports, keys: st.keys, store: st.jobs, pools: c.pools}
	if err := opt.Metrics.Register(l.gauges()); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

// follow makes the parts that know what becomes of jobs.
func (c *core) follow(opt Options, st *stores) {
	c.answers = answers.New(answers.Sources{Store: st.jobs, Book: c.book, Keys: st.keys, Finder: st.presence,
		Addresses: newAddressBook(st), Keep: c.cfg.KeepJobsSeconds, NextJID: func() string {
			return c.jobs.ids.Next(time.Now())
		},
		Ask: func(jid, fun string, args []any, ids []string) { c.publications.askMinions(jid, fun, args, ids) }})
	trace := tracing.New(tracing.Options{Config: c.cfg.TracingOptions(), Version: opt.Version, Master: c.cfg.ID,
		Log:     c.log,
		Job:     func(jid string) (*ledger.Snapshot, error) { s, _, err := c.answers.Snapshot(jid); return s, err },
		Reasons: c.answers.Reasons, Count: c.meter.traced})
	c.record = &record{book: c.book, meter: c.meter, trace: trace}
	c.publications = newPublications(publicationOptionsOf(c.cfg), c.jobs, c.events, c.record, c.log)
	c.publications.server = c.reqServer
}

// furnish makes the desks, where workers have requests answered.
func (c *core) furnish(st *stores, mines *mine.Reader) error {
	tops, err := newTops(c.cfg.Raw)
	if err != nil {
		return err
	}
	cfg, line := c.cfg, &turns{door.NewTurns(), c.complaints}
	c.desks = &desks{
		console: &console{owner: cfg.User, orderMasters: cfg.OrderMasters, running: c.running, jobs: c.jobs,
			targets: c.targets, record: c.record, publications: c.publications, functions: c.functions,
			events: c.events, complaints: c.complaints, log: c.log},
		returns: &returnDesk{opt: returnOptionsOf(cfg), auth: c.auth, gate: c.gate, answers: c.answers, jobs: c.jobs,
			events: c.events, record: c.record, meter: c.meter, meant: &speakers.Jobs{Book: c.book,
				Asked: st.jobs.Asked}, log: c.log},
		events: &eventDesk{gate: c.gate, jobs: c.jobs, events: c.events, most: cfg.MinionEventsMax, log: c.log},
		data: &dataDesk{opt: dataOptionsOf(cfg), auth: c.auth, keys: st.keys, cache: st.cache, gate: c.gate,
			events: c.events, mines: mines, pillars: c.pillars, pushed: pushedOf(cfg), kept: pillarCacheOf(cfg, st),
			tops: tops, turns: line, signIns: c.signIns, log: c.log},
		files: &fileDesk{c.files, line},
		peers: &peerDesk{opt: peerOptionsOf(cfg), gate: c.gate, targets: c.targets, jobs: c.jobs,
			publications: c.publications, functions: c.functions, events: c.events, turns: line,
			atOnce: quota.AtOnce{Most: peersAtOnce}, log: c.log},
	}
	return nil
}
