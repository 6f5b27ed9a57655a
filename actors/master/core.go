package master

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"brine/config"
	"brine/modules/eauth"
	"brine/modules/keys"
	"brine/modules/returners"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/event"
	"brine/wire/payload"
)

const keyAccepted = keys.Accepted

// keyTree is the pki tree as the workers use it.
type keyTree interface {
	Has(st keys.Status, id string) bool
}

// dataCache keeps what minions told about themselves (salt/cache/localfs.py). nil maps mean no entry.
type dataCache interface {
	StoreGrains(id string, grains *payload.Map) error
	StorePillar(id, env string, pillar *payload.Map) error
	Mine(id string) (*payload.Map, error)
	StoreMine(id string, data *payload.Map) error
	FlushMine(id string) error
}

// jobReader reads what the job store holds.
type jobReader interface {
	GetJID(jid string) (*payload.Map, error)
	// Announce writes the files in which Salt's own salt command looks for a job as soon as it has its answer.
	Announce(returners.Load) error
}

// coreOptions are the functions a worker needs of packages that the daemon has put together.
type coreOptions struct {
	RunningUser    string // user of this process
	LegacyJobEvent bool   // fire the bare <jid> event of releases before 3008, too
	Expand         func(tgt any, tgtType, delimiter string, greedy bool) (minions, missing []string)
	Glob           func(pattern, text string) bool
	ParseArgs      func(args, noParse []any) []any
	SplitArgs      func(args []any) ([]any, *payload.Map)
	Run            runFunc
	RevokeKey      func(id string, preserveCache bool) error
	// Collect subscribes to the returns of a job, calls start, and hands over each return until all ids have
	// answered or ctx ends.
	Collect func(ctx context.Context, jid string, ids []string, start func() error, each func(id string, ret *payload.Map)) error
	Runners *supervisor.Supervisor
}

// core is what all workers of a master share. Everything in it may be used by many goroutines.
type core struct {
	opt   coreOptions
	cfg   *config.Master
	auth  *auth.Master
	eauth *eauth.Service
	keys  keyTree
	cache dataCache
	store jobReader
	jids  *jidClock
	pools *pools
	seen  func(id string, at time.Time) // notes a sign of life of a minion; may be nil
	log   *slog.Logger

	bus          *supervisor.Ref // EventPublisher
	publisherRef *supervisor.Ref // Publisher
	jobs         *supervisor.Ref // JobStore
}

// fire packs an event here, in the goroutine of whoever fires it, and hands it to the bus. data is not kept.
func (c *core) fire(tag string, data *payload.Map) {
	body, err := event.Pack(tag, data, c.cfg.MaxEventSize)
	if err != nil {
		c.log.Error("event cannot be packed", "tag", tag, "err", err)
		return
	}
	c.bus.Send(&FireEvent{Body: body})
}

// expand is who a target means, unknown minions included; expandKnown leaves those out.
func (c *core) expand(tgt any, tgtType, delimiter string) found {
	minions, missing := c.opt.Expand(tgt, tgtType, delimiter, true)
	return found{minions, missing}
}

func (c *core) expandKnown(tgt any, tgtType string) found {
	minions, missing := c.opt.Expand(tgt, tgtType, defaultDelimiter, false)
	return found{minions, missing}
}

// covers tells whether all ids lie inside a compound target.
func (c *core) covers(target string, ids []string) bool {
	inside := map[string]bool{}
	for _, id := range c.expand(target, "compound", defaultDelimiter).Minions {
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
	if o.Reason != "" {
		c.log.Info("sign-in", "minion", o.ID, "act", o.Act, "why", o.Reason)
	}
	if o.Act == auth.ActAccept && c.seen != nil {
		c.seen(o.ID, time.Now())
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

// jidClock gives out job ids: the time in microseconds, each greater than the one before.
type jidClock struct{ last atomic.Int64 }

// next is the id of a job that begins now.
func (j *jidClock) next(now time.Time) string {
	for {
		last, us := j.last.Load(), now.UnixMicro()
		if us <= last {
			us = last + 1
		}
		if j.last.CompareAndSwap(last, us) {
			return payload.NewJID(time.UnixMicro(us))
		}
	}
}

// splitStateKey reads "module_|-id_|-name_|-function"; nil when it is something else.
func splitStateKey(key string) []string {
	if parts := strings.Split(key, "_|-"); len(parts) == 4 {
		return parts
	}
	return nil
}

// pyText shows a target or function name in a message: text as it is, anything else by its Go form.
func pyText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return fmt.Sprint(v)
}
