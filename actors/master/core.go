package master

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"brine/actors/master/answers"
	"brine/actors/master/tracing"
	"brine/config"
	"brine/modules/eauth"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/door"
	"brine/modules/fleet/jobstore"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/mine"
	"brine/modules/fleet/pushed"
	"brine/modules/fleet/quota"
	"brine/modules/fleet/speakers"
	"brine/modules/host/steady"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// jobReader reads what the job cache holds.
type jobReader interface {
	GetJID(jid string) (*payload.Map, error)
	// Announce writes the files in which Salt's own salt command looks for a job as soon as it has its answer.
	Announce(jobstore.Load) error
	// Note keeps a load past the death of the process until it is stored, without such files.
	Note(jobstore.Load) error
}

// core is what all workers of a master share. Everything in it may be used by many goroutines.
type core struct {
	cfg          *config.Master
	running      string // user this process belongs to
	log          *slog.Logger
	complaints   *complaints
	events       *events
	targets      *targets
	attendance   *attendance
	auth         *auth.Master
	rules        *atomic.Pointer[rules] // who may do what, and what else a reload replaces
	keys         *keys.Store
	cache        *datacache.Banks
	jobs         *jobs
	functions    *ownFunctions
	mines        *mine.Reader
	answers      *answers.Desk
	pools        *pools
	book         *ledger.Book // what is known of jobs and minions
	meter        *meter       // nil: nothing is counted
	record       *record
	publications *publications

	// Set when the children start, each before whoever uses it.
	tree         *atomic.Pointer[supervisor.Supervisor]
	requestBytes int64         // of requests that wait for their answers
	maxMessage   int64         // of one request; 0: the adapter's
	guard        *zmq.Guard    // of what libzmq holds at both ports
	oldPeers     atomic.Uint64 // that were not let in

	quotas  *quota.Book
	roles   *speakers.Roles
	managed *speakers.Resources
	busy    busyMinions
	peers   quota.AtOnce // what minions publish and run, and wait for
	pushed  *pushed.Store
	modern  sync.Map // ids that have spoken version 3, where others may speak

	turns    *door.Turns
	weakKeys weakKeys
	rotate   atomic.Bool // a new shared key is to be made
	steady   *steady.Clock
}

// newCore puts together what workers share.
func newCore(opt Options, ps *pools, st *stores) (*core, error) {
	cfg, log, book := opt.Config, opt.Logger, newBook(opt.book)
	c := &core{cfg: cfg, running: opt.RunningUser, log: log, keys: st.keys, cache: st.cache, rules: &atomic.Pointer[rules]{},
		tree: &atomic.Pointer[supervisor.Supervisor]{}, jobs: newJobs(st.jobs, cfg.JobStoreQueueMax, cfg.UniqueJID, book, log), turns: door.NewTurns(), pools: ps, book: book,
		complaints: &complaints{log: log},
		events:     newEvents(newBusRoom(cfg.EventBusMax, opt.within(cfg.EventBusMaxBytes, eventShare), log), cfg.MaxEventSize, log),
		attendance: newAttendance(&book.Peers, st.presence, log),
	}
	c.targets = newTargets(st, cfg.MinionDataCache, c.rules, log)
	c.mines = newMines(cfg, st.cache, c.targets)
	c.steady = steady.New(steady.Since(time.Now()), nil) // Maintenance tells
	c.rules.Store(newRules(cfg, eauth.New(eauthOptions(cfg, opt.RunningUser, opt.Keys.Local, c.steady.Calm))))
	c.quotas, c.managed = newQuotas(cfg), &speakers.Resources{Keys: st.keys, Cache: st.cache}
	c.roles = &speakers.Roles{Keys: st.keys, Cache: st.cache, SyndicDir: cfg.SyndicDir}
	c.peers.Most, c.pushed = peersAtOnce, newPushed(cfg)
	if opt.Memory > 0 {
		c.maxMessage = opt.within(opt.Config.RequestBytesMax, messageShare)
	}
	c.guard = c.newGuard(opt)
	c.requestBytes = opt.within(opt.Config.RequestBytesMax, requestShare)
	book.Peers.Accepted = func(id string) bool { _, ok := st.signIn.Accepted(id); return ok }
	var err error
	if c.auth, err = signInSide(opt, st, c); err != nil {
		return nil, err
	}
	c.attendance.vouches = c.auth.Vouches
	c.answers = answers.New(answers.Sources{Store: st.jobs, Book: book, Keys: st.keys, Finder: st.presence, Addresses: newAddressBook(st),
		Keep: cfg.KeepJobsSeconds, Syndics: cfg.OrderMasters, Ask: func(jid, fun string, args []any, ids []string) { c.publications.askMinions(jid, fun, args, ids) }, NextJID: func() string { return c.jobs.ids.Next(time.Now()) }})
	in := inside{cfg: cfg, user: opt.RunningUser, rules: c.rules, targets: c.targets, events: c.events, mines: c.mines, gone: c.answers.Gone, tree: c.tree, log: log}
	if c.functions, err = newOwnFunctions(in, st, c.attendance, c.jobs, opt.Version); err != nil {
		return nil, err
	}
	if err = c.measure(opt); err != nil {
		return nil, err
	}
	c.record = &record{book: book, meter: c.meter, trace: tracing.New(tracing.Options{Config: cfg.TracingOptions(), Version: opt.Version, Master: cfg.ID, Log: log,
		Job:     func(jid string) (*ledger.Snapshot, error) { s, _, err := c.answers.Snapshot(jid); return s, err },
		Reasons: c.answers.Reasons, Count: c.meter.traced})}
	c.publications = newPublications(cfg, c.jobs, c.events, c.record, log)
	return c, nil
}

// signedIn fires the event of a sign-in and notes who is there.
func (c *core) signedIn(o auth.Outcome) {
	c.meter.signIn(o.Act)
	c.book.Peers.SignedIn(o.ID, o.Act, o.Reason, ledger.At(time.Now()))
	if o.Act == auth.ActAccept {
		c.attendance.relink(o.ID)
	}
	if o.Weak {
		c.weakKeys.say(c.log, o.ID, o.Reason)
	} else if o.Reason != "" {
		c.log.Info("sign-in", "minion", o.ID, "act", o.Act, "why", o.Reason)
	}
	withGrains := false
	for _, act := range c.cfg.AuthEventsAutosignGrains {
		withGrains = withGrains || act == o.Act
	}
	if data := o.Event(withGrains); data != nil && c.cfg.AuthEvents {
		c.events.fire("salt/auth", data)
	}
}

func (c *core) poolName(i int) string { return c.pools.list[i].name }
