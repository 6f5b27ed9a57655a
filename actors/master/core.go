package master

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"brine/actors/engines"
	"brine/actors/master/access"
	"brine/actors/master/answers"
	"brine/actors/master/attendance"
	"brine/actors/master/complaints"
	"brine/actors/master/copies"
	"brine/actors/master/enginehost"
	"brine/actors/master/eventbus"
	"brine/actors/master/files"
	"brine/actors/master/jobs"
	"brine/actors/master/machine"
	"brine/actors/master/maintenance"
	"brine/actors/master/meter"
	"brine/actors/master/pillars"
	"brine/actors/master/ports"
	"brine/actors/master/publish"
	"brine/actors/master/reactions"
	"brine/actors/master/record"
	"brine/actors/master/reqserver"
	"brine/actors/master/returning"
	"brine/actors/master/run"
	"brine/actors/master/scheduler"
	"brine/actors/master/signin"
	"brine/actors/master/targets"
	"brine/actors/master/tracing"
	"brine/actors/master/workers"
	"brine/config"
	"brine/modules/eauth"
	"brine/modules/fleet/jobstore"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/mine"
	"brine/modules/fleet/speakers"
	"brine/modules/host/steady"
	"brine/modules/runners"
	"brine/modules/tops"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
)

// core is the parts of a master. It only puts them together.
type core struct {
	cfg          *config.Master
	running      string // user this process belongs to
	log          *slog.Logger
	rules        *atomic.Pointer[access.Rules]          // who may do what, and what else a reload replaces
	tree         *atomic.Pointer[supervisor.Supervisor] // holds it when the children start
	steady       *steady.Clock
	auth         *auth.Master
	book         *ledger.Book // what is known of jobs and minions
	meter        *meter.Meter // nil: nothing is counted
	pools        *reqserver.Pools
	complaints   *complaints.Log
	events       *eventbus.Bus
	ports        *ports.Ports
	targets      *targets.Targets
	attendance   *attendance.Book
	machine      *machine.Machine
	eventReturn  *returning.Part // nil: no returner gets events
	copies       *copies.Jobs    // nil: no returner gets jobs
	jobs         *jobs.Jobs
	answers      *answers.Service
	record       *record.Record
	publications *publish.Publications
	mines        *mine.Reader
	files        *files.Files
	pillars      *pillars.Pillars
	functions    *run.Functions
	engines      *engines.Set
	reactions    *reactions.Reactions
	schedules    *scheduler.Schedules
	admission    *access.Admission
	signIns      *signin.Side
	upkeep       *maintenance.Upkeep
	signs        *maintenance.Signs
	handlers     *workers.Handlers
}

// newCore puts the parts together, each on those before it. On an error nothing of them stays open.
func newCore(opt Options, ps *reqserver.Pools, st *stores) (*core, error) {
	cfg, log := opt.Config, opt.Logger
	c := &core{cfg: cfg, running: opt.RunningUser, log: log, book: record.NewBook(opt.book), pools: ps,
		signs: maintenance.NewSigns(cfg.CacheDir, cfg.SockDir, log),
		rules: &atomic.Pointer[access.Rules]{}, tree: &atomic.Pointer[supervisor.Supervisor]{},
		complaints: complaints.New(log),
		steady:     steady.New(steady.Since(time.Now()), nil), // Maintenance tells
		events: eventbus.New(eventbus.Options{Most: cfg.EventBusMax,
			Bytes: ports.Within(cfg.EventBusMaxBytes, opt.Memory, eventShare), MaxSize: cfg.MaxEventSize}, log)}
	c.book.Peers.Accepted = func(id string) bool { _, ok := st.signIn.Accepted(id); return ok }
	c.rules.Store(newRules(cfg, eauth.New(eauthOptions(cfg, opt.RunningUser, opt.Keys.Local, c.steady.Calm, log))))
	c.ports = ports.New(ports.Options{MaxConnections: cfg.MaxConnections, RequestBytes: cfg.RequestBytesMax,
		Memory: opt.Memory}, c.events, c.complaints, log)
	c.targets = targets.New(st.keys, st.cache, cfg.MinionDataCache, c.rules, log)
	c.attendance = attendance.New(&c.book.Peers, st.presence, func(topic string) bool { return c.auth.Vouches(topic) },
		log)
	for _, step := range []func(Options, *stores) error{c.keepJobs, c.measure, c.letIn, c.follow, c.serve, c.act,
		c.furnish} {
		if err := step(opt, st); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

// keepJobs makes the parts that keep jobs, here and in returners, and hand events to those.
func (c *core) keepJobs(opt Options, st *stores) (err error) {
	cfg, fire, calm := c.cfg, c.events.Fire, c.steady.Calm
	c.machine = machine.New(machine.Options{ID: cfg.ID, Values: cfg.Raw, Version: opt.Version}, c.log)
	events := eventReturnOptionsOf(cfg)
	events.Machine, events.Fire, events.Subscribe, events.Calm = c.machine, fire, c.events.Hear, calm
	if c.eventReturn, err = copies.NewEvents(events, c.log); err != nil {
		return err
	}
	if c.copies, err = copies.NewJobs(jobCopyOptionsOf(cfg), c.machine, fire, calm, c.log); err != nil {
		return err
	}
	if store, own := st.jobs.(*jobstore.Store); own {
		if copied, ok := c.copies.Over(store); ok {
			st.jobs = copied
		}
	}
	if opt.jobs != nil {
		st.jobs = opt.jobs(st.jobs)
	}
	c.jobs = jobs.New(jobs.Options{QueueMax: cfg.JobStoreQueueMax, Unique: cfg.UniqueJID,
		Users: []string{cfg.User, opt.RunningUser}}, st.jobs, c.book, c.log)
	return nil
}

// measure makes the counters, where somebody wants them.
func (c *core) measure(opt Options, st *stores) (err error) {
	if opt.Metrics == nil {
		return nil
	}
	if c.meter, err = meter.New(opt.Metrics, meter.Options{Metrics: opt.Config.MetricsOptions(),
		Functions: opt.Functions, Pools: c.pools.Names(), Command: workers.IsCommand}); err != nil {
		return err
	}
	return c.meter.Look(opt.Metrics, meter.Sources{Peers: &c.book.Peers, Keys: st.keys, Ended: c.ports.TurnedAway,
		Store: st.jobs})
}

// letIn makes the parts that let minions in, and what they say.
func (c *core) letIn(opt Options, st *stores) (err error) {
	peers := &c.book.Peers
	c.admission = access.NewAdmission(admissionOptionsOf(c.cfg), st.keys, st.cache, peers, c.events, c.meter, c.log)
	c.signIns, err = signin.New(signInOptionsOf(c.cfg), signInSideOf(opt, st), signin.Parts{Keys: st.keys,
		Manager: keyManagerOf(c.cfg, st), Voices: c.admission.Voices, Attendance: c.attendance, Peers: peers,
		Events: c.events, Complaints: c.complaints, Meter: c.meter, CheckKeys: c.checkKeys}, c.log)
	if err == nil {
		c.auth = c.signIns.Auth()
	}
	return err
}

// follow makes the parts that know what becomes of jobs.
func (c *core) follow(opt Options, st *stores) error {
	c.answers = answers.New(answers.Sources{Store: st.jobs, Book: c.book, Keys: st.keys, Finder: st.presence,
		Addresses: newAddressBook(st), Keep: c.cfg.KeepJobsSeconds, NextJID: func() string {
			return c.jobs.IDs.Next(time.Now())
		},
		Ask: func(jid, fun string, args []any, ids []string) { c.publications.AskMinions(jid, fun, args, ids) }})
	trace := tracing.New(tracing.Options{Config: c.cfg.TracingOptions(), Version: opt.Version, Master: c.cfg.ID,
		Log:     c.log,
		Job:     func(jid string) (*ledger.Snapshot, error) { s, _, err := c.answers.Snapshot(jid); return s, err },
		Reasons: c.answers.Reasons, Count: c.meter.Traced})
	c.record = record.New(c.book, c.meter, trace)
	c.publications = publish.New(publicationOptionsOf(c.cfg), c.jobs, c.copies, c.events, c.record, c.reqServer,
		c.log)
	return nil
}

// serve makes the parts that have what minions ask for.
func (c *core) serve(_ Options, st *stores) (err error) {
	if c.files, err = files.New(fileOptionsOf(c.cfg), c.events, c.log); err != nil {
		return err
	}
	c.mines = workers.NewMines(c.cfg.Raw, st.cache, c.targets)
	c.pillars, err = pillars.New(c.cfg.Raw, c.machine.Env, c.targets, c.cfg.RequestTimeout, c.log)
	return err
}

// act makes the parts that do something by themselves, or run functions of this master.
func (c *core) act(opt Options, st *stores) (err error) {
	cfg := c.cfg
	in := run.NewInside(insideOptionsOf(cfg, opt.RunningUser), run.InsideParts{Rules: c.rules, Targets: c.targets,
		Events: c.events, Mines: c.mines, Files: c.files, Gone: c.answers.Gone, Exchange: c.exchange,
		Tree: c.tree.Load}, c.log)
	own := functionOptionsOf(opt, st)
	own.Around = opt.runs
	own.Reactor = func() (runners.Reactor, bool) { return c.reactions.Managed() }
	c.functions = run.New(own, in, run.Parts{Machine: c.machine, Cache: st.cache, Presence: c.attendance,
		Jobs: c.jobs, Copies: c.copies, Pillars: c.pillars})
	if c.engines, err = enginehost.New(engineOptionsOf(cfg), c.events, c.functions, c.machine, c.jobs, c.log); err != nil {
		return err
	}
	reactor := reactionOptionsOf(cfg)
	if tuning := c.engines.Reactor; tuning != nil {
		reactor.Tune(tuning.Refresh, tuning.Threads, tuning.Queue)
	}
	if c.reactions, err = reactions.New(reactor, cfg.Raw.Value("reactor"), optionsAsMinion(cfg, c.log),
		reactions.Parts{Rules: c.rules, Events: c.events, Files: c.files, Functions: c.functions, Machine: c.machine,
			Jobs: c.jobs}, c.log); err != nil {
		return err
	}
	c.schedules, err = scheduler.New(scheduleOptionsOf(cfg, opt.RunningUser, c.steady.Calm), scheduler.Parts{
		Functions: c.functions, Machine: c.machine, Fire: c.events.Fire, Tree: c.tree.Load}, c.log)
	return err
}

// furnish makes the parts that look after the others, and answer requests by them.
func (c *core) furnish(opt Options, st *stores) error {
	tops, err := tops.New(c.cfg.Raw.Map("master_tops"))
	if err != nil {
		return err
	}
	c.upkeep = maintenance.New(upkeepOptionsOf(c.cfg), maintenance.Parts{Data: sweepOf(c.cfg, st), Auth: c.auth,
		Keys:    st.keys,
		SignIns: c.signIns, Connected: c.attendance.Connected, Fire: c.events.Fire, Jobs: c.jobs.Send,
		Publish: c.publishOwn, Tokens: c.cleanTokens, Signs: c.signs}, c.log)
	c.handlers = workers.New(handlerOptionsOf(c.cfg, opt.RunningUser), workers.Parts{Answers: c.answers, Auth: c.auth,
		Cache: st.cache, Complaints: c.complaints, Events: c.events, Files: c.files, Functions: c.functions,
		Admission: c.admission, Jobs: c.jobs, Keys: st.keys, Meant: &speakers.Jobs{Book: c.book, Asked: st.jobs.Asked},
		Meter: c.meter, Mines: c.mines, Pillars: c.pillars, Kept: pillarCacheOf(c.cfg, st),
		Publications: c.publications, Pushed: pushedOf(c.cfg), Record: c.record, SignIns: c.signIns,
		Targets: c.targets, Tops: tops}, c.log)
	return nil
}

// handed is what waits for returners: events, jobs, and returns of the schedule. Each may be missing.
func (c *core) handed() (parts []*returning.Part) {
	if c.eventReturn != nil {
		parts = append(parts, c.eventReturn)
	}
	if c.copies != nil {
		parts = append(parts, c.copies.Part)
	}
	if c.schedules != nil && c.schedules.Waiting() != nil {
		parts = append(parts, c.schedules.Waiting())
	}
	return parts
}

// close closes what is kept on disk, when the actors have ended.
func (c *core) close() error {
	var all []error
	if c.reactions != nil {
		all = append(all, c.reactions.Close())
	}
	for _, p := range c.handed() {
		all = append(all, p.Close())
	}
	return errors.Join(all...)
}

// publishOwn publishes a job of the master's own and tells how many minions are meant.
func (c *core) publishOwn(fun string, args []any, tgt any, tgtType string) int {
	who, _ := c.targets.Expand(context.Background(), tgt, tgtType, targets.DefaultDelimiter) // which is logged
	c.publications.BeginOwn(payload.M("fun", fun, "arg", args, "tgt", tgt, "tgt_type", tgtType, "ret", "", "jid",
		c.jobs.IDs.Next(time.Now()), "user", c.cfg.User), who)
	return len(who.Minions)
}

// cleanTokens removes the tokens that have expired.
func (c *core) cleanTokens() error {
	_, err := c.rules.Load().Eauth.CleanTokens()
	return err
}
