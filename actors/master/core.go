package master

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"brine/config"
	"brine/modules/eauth"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/door"
	"brine/modules/fleet/jobids"
	"brine/modules/fleet/jobstore"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/presence"
	"brine/modules/fleet/pushed"
	"brine/modules/fleet/quota"
	"brine/modules/fleet/speakers"
	"brine/modules/host/steady"
	"brine/modules/matchers"
	"brine/modules/text/pytext"
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
	cfg     *config.Master
	running string // user this process belongs to
	log     *slog.Logger
	auth    *auth.Master
	rules   atomic.Pointer[rules] // who may do what, and what else a reload replaces
	keys    *keys.Store
	cache   *datacache.Banks
	store   jobCache
	// filesAreStore says that store is Salt's own layout of files.
	filesAreStore bool
	targets       *matchers.Expander
	presence      *presence.Finder
	addresses     *presence.AddressBook
	jids          *jobids.Book
	pools         *pools
	book          *ledger.Book // what is known of jobs and minions
	run           runFunc      // runs a runner or wheel function and fires its events
	manager       func(preserve bool) *keys.Manager
	meter         *meter   // nil: nothing is counted
	trace         *tracing // nil: nothing is traced
	owed          *owed    // to the job store

	// Set when the children start, each before whoever uses it.
	top          *supervisor.Supervisor
	bus          *supervisor.Ref // EventPublisher
	busRoom      *room           // of its mailbox
	publisherRef *supervisor.Ref // Publisher
	jobs         *supervisor.Ref // JobStore
	returnRoom   *room           // of the returns that wait in it
	requestBytes int64           // of requests that wait for their answers
	maxMessage   int64           // of one request; 0: the adapter's
	guard        *zmq.Guard      // of what libzmq holds at both ports
	oldPeers     atomic.Uint64   // that were not let in

	quotas  *quota.Book
	roles   *speakers.Roles
	managed *speakers.Resources
	busy    busyMinions
	peers   quota.AtOnce // what minions publish and run, and wait for
	pushed  *pushed.Store
	modern  sync.Map // ids that have spoken version 3, where others may speak

	lines     door.Lines
	turns     *door.Turns
	streams   subscriptions
	questions questions
	look      atomic.Pointer[presenceLook]
	mute      atomic.Bool // files of jobs cannot be written, which was said
	weakKeys  weakKeys
	rotate    atomic.Bool // a new shared key is to be made
	steady    *steady.Clock
	runs      sync.Map // name of a runner's actor → its runners.Request
}

// newCore puts together what workers share.
func newCore(opt Options, ps *pools, st *stores) (*core, error) {
	cfg := opt.Config
	c := &core{cfg: cfg, running: opt.RunningUser, log: opt.Logger, keys: st.keys, cache: st.cache,
		store: st.jobs, presence: st.presence, addresses: newAddressBook(st), jids: jobids.New(cfg.UniqueJID), turns: door.NewTurns(), pools: ps, book: newBook(opt.book),
		targets: &matchers.Expander{Source: targetSource{st.keys, st.cache}, DataCache: cfg.MinionDataCache}}
	c.targets.Groups = func() *payload.Map { return c.rules.Load().nodegroups }
	c.steady = steady.New(steady.Since(time.Now()), nil) // Maintenance tells
	c.rules.Store(newRules(cfg, eauth.New(eauthOptions(cfg, opt.RunningUser, opt.Keys.Local, c.steady.Calm))))
	c.quotas, c.managed = newQuotas(cfg), &speakers.Resources{Keys: st.keys, Cache: st.cache}
	c.roles = &speakers.Roles{Keys: st.keys, Cache: st.cache, SyndicDir: cfg.SyndicDir}
	c.peers.Most, c.pushed = peersAtOnce, newPushed(cfg)
	c.owed = &owed{log: c.log}
	c.busRoom, c.returnRoom = newBusRoom(cfg.EventBusMax, opt.within(cfg.EventBusMaxBytes, eventShare), c.log), newReturnRoom(cfg.JobStoreQueueMax, c.log)
	if opt.Memory > 0 {
		c.maxMessage = opt.within(opt.Config.RequestBytesMax, messageShare)
	}
	c.guard = c.newGuard(opt)
	c.requestBytes = opt.within(opt.Config.RequestBytesMax, requestShare)
	c.book.Peers.Accepted = func(id string) bool { _, ok := st.signIn.Accepted(id); return ok }
	_, c.filesAreStore = st.jobs.(*jobstore.LocalCache)
	var err error
	if c.auth, err = signInSide(opt, st, c); err != nil {
		return nil, err
	}
	c.manager = func(preserve bool) *keys.Manager { return keyManager(cfg, st, preserve) }
	if c.run, err = functionRunner(c, opt.Version); err != nil {
		return nil, err
	}
	if err = c.measure(opt); err != nil {
		return nil, err
	}
	c.trace = c.newTracing(opt)
	return c, nil
}

// fire packs an event here, in the goroutine of whoever fires it, and hands it to the bus. data is not kept. What
// minions say goes by say instead.
func (c *core) fire(tag string, data *payload.Map) {
	if body := c.pack(tag, data); body != nil {
		c.put(body)
	}
}

// connected tells how many minions are connected and whether id is one of them (max_minions). One look at the
// connections serves all sign-ins of a second.
func (c *core) connected(id string) (n int, present bool) {
	look := c.look.Load()
	if now := time.Now(); look == nil || now.Sub(look.at) > time.Second {
		ids, err := c.present()
		if err != nil {
			c.log.Error("connected minions are not known", "err", err)
		}
		look = &presenceLook{at: now, ids: ids}
		c.look.Store(look)
	}
	_, present = look.ids[id]
	return len(look.ids), present
}

// presenceLook is who was connected at a moment.
type presenceLook struct {
	at  time.Time
	ids map[string]string
}

// expand is who a target means, minions that nothing is known of included. What cannot be worked out, or not before ctx
// ends or target_timeout is over, means nobody.
func (c *core) expand(ctx context.Context, tgt any, tgtType, delimiter string) (found, error) {
	return c.meant(ctx, tgt, tgtType, delimiter, true)
}

// meant is expand; without greedy, minions that nothing is known of are left out.
func (c *core) meant(ctx context.Context, tgt any, tgtType, delimiter string, greedy bool) (found, error) {
	ctx, cancel := context.WithTimeout(ctx, c.rules.Load().targetTimeout)
	defer cancel()
	who, err := c.targets.Expand(ctx, tgt, tgtType, delimiter, greedy)
	if err != nil {
		c.log.Error("target cannot be expanded", "tgt", payload.Show(pytext.Str(tgt)), "tgt_type", payload.Show(tgtType), "err", payload.Show(err.Error()))
	}
	return found{who.Minions, who.Missing}, err
}

// covers tells whether all ids lie inside a compound target.
func (c *core) covers(ctx context.Context, target string, ids []string) bool {
	who, _ := c.expand(ctx, target, "compound", defaultDelimiter) // what cannot be worked out holds nobody
	inside := make(map[string]bool, len(who.Minions))
	for _, id := range who.Minions {
		inside[id] = true
	}
	for _, id := range ids {
		if !inside[id] {
			return false
		}
	}
	return true
}

// signedIn fires the event of a sign-in and notes who is there.
func (c *core) signedIn(o auth.Outcome) {
	c.meter.signIn(o.Act)
	c.book.Peers.SignedIn(o.ID, o.Act, o.Reason, ledger.At(time.Now()))
	if o.Act == auth.ActAccept {
		c.relink(o.ID)
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
		c.fire("salt/auth", data)
	}
}

func (c *core) poolName(i int) string { return c.pools.list[i].name }

// stampField is the time of an event.
const stampField = "_stamp"
