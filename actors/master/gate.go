package master

import (
	"fmt"
	"log/slog"
	"time"

	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/quota"
	"brine/modules/fleet/speakers"
	"brine/wire/auth"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python/fnmatch"
)

// speaker is the minion that has sent a request.
type speaker struct {
	id     string
	syndic bool // it speaks for those below it
}

// share is how many times a minion's quota it has.
func (s speaker) share() int {
	if s.syndic {
		return syndicShare
	}
	return 1
}

// gateOptions are what the configuration says of what minions may say.
type gateOptions struct {
	hourly    hourly
	whitelist []string // minion_event_whitelist: globs of tags that any minion may fire; none: no others than its own
	dataMost  int64    // minion_data_max_bytes of its grains, or of its mine; 0 or less: any size
}

// gate is where what minions say gets in, or does not. It knows what each may say and how much, and counts what they
// were refused. Any number of goroutines may use it.
type gate struct {
	opt     gateOptions
	voices  *voices
	managed *speakers.Resources
	quotas  *quota.Book
	keys    *keys.Store
	peers   *ledger.Peers
	events  *events
	meter   *meter
	log     *slog.Logger
}

func newGate(opt gateOptions, st *stores, voices *voices, peers *ledger.Peers, events *events, meter *meter,
	log *slog.Logger) *gate {
	return &gate{opt: opt, voices: voices, managed: &speakers.Resources{Keys: st.keys, Cache: st.cache},
		quotas: opt.hourly.book(), keys: st.keys, peers: peers, events: events, meter: meter, log: log}
}

// say puts an event of a minion on the bus: the only way there for what comes from minions, returns excepted. size is
// how many bytes it has; 0 when it was refused, and why. data is not kept, but may lose fields.
func (g *gate) say(who speaker, tag string, data *payload.Map) (size int, why string) {
	if why := g.forbidden(who, tag, data); why != "" {
		why += ": " + payload.Show(tag)
		g.deny(who.id, ledger.DeniedTag, 1, why)
		return 0, why
	}
	direct, forwarded := ofJob(tag)
	switch {
	case direct:
		for _, field := range believed {
			data.Delete(field)
		}
	case forwarded:
		data.Delete(endsTools)
	}
	body := g.events.pack(tag, data)
	if body == nil {
		return 0, "an event that cannot be packed"
	}
	if !g.quotas.Spend(who.id, quotaEventBytes, len(body), who.share(), time.Now()) {
		why := fmt.Sprintf("more bytes of events than minion_quota_event_bytes (%d an hour)", g.opt.hourly.eventBytes)
		g.deny(who.id, ledger.DeniedEvents, 1, why)
		return 0, why
	}
	g.events.put(body)
	return len(body), ""
}

// forbidden says why a minion may not fire an event; "" when it may.
func (g *gate) forbidden(who speaker, tag string, data *payload.Map) string {
	if event.CheckTag(tag) != nil {
		return "no tag of an event"
	}
	if event.Imitates(tag) && !g.whitelisted(tag) {
		return "a tag that looks like that of a job to whoever searches tags for one"
	}
	voice, id, made := gateFor(tag)
	if made {
		return ""
	}
	if said, has := event.Author(data); has && said != who.id && !who.syndic {
		return "an event with the id of somebody else"
	}
	allowed := false
	switch voice {
	case anyone:
		allowed = true
	case itself:
		allowed = g.speaksFor(who, id)
	case bySyndic:
		allowed = who.syndic && id == who.id
	}
	if allowed || g.whitelisted(tag) {
		return ""
	}
	return "a tag that is not its own (minion_event_whitelist can allow it)"
}

// speaksFor tells whether a minion may speak under an id: its own, that of a resource which it manages, and if it is a
// syndic any that is no minion of this master.
func (g *gate) speaksFor(who speaker, id string) bool {
	return id == who.id || g.managed.Manages(who.id, id) || who.syndic && auth.ValidID(id) && !g.keys.Has(keys.Accepted,
		id)
}

func (g *gate) whitelisted(tag string) bool {
	for _, pattern := range g.opt.whitelist {
		if fnmatch.Match(pattern, tag) {
			return true
		}
	}
	return false
}

// tagDenied tells operators of what a minion was refused.
const tagDenied = "brine/minion/refused"

// deny counts what a minion was refused, and says so: the first time, and then once in a while.
func (g *gate) deny(id string, what ledger.Denial, n int, why string) {
	if n <= 0 || !auth.ValidID(id) {
		return
	}
	g.meter.fail(failedForbidden)
	total, tell := g.peers.Deny(id, what, n, ledger.At(time.Now()))
	if !tell {
		return
	}
	g.log.Warn("a minion was refused what it may not do", "minion", id, "what", what.String(), "why", why, "count",
		total)
	g.events.fire(tagDenied, payload.M("id", id, "what", what.String(), "why", why, "count", total))
}

// fits tells whether data of a minion is small enough to be kept.
func (g *gate) fits(data *payload.Map) bool {
	if g.opt.dataMost <= 0 {
		return true
	}
	packed, err := payload.Marshal(data)
	return err == nil && int64(len(packed)) <= g.opt.dataMost
}

// proven tells whether a request is certainly that of the minion which it names. All of version 3 are; below it whoever
// has any accepted key can name any minion, unless a token comes with it. Those that minions send without one are taken
// where the configuration wants so (allowed), but not in the name of an id that has spoken version 3.
func (g *gate) proven(r *call, allowed bool, why string) bool {
	if r.req.opened.Load().TokenOK {
		return true
	}
	if allowed && r.id != "" && !g.voices.roles.Of(r.id).V3 {
		return true
	}
	g.deny(r.id, ledger.DeniedVersion, 1, why+": in its name, perhaps not by it; one that has spoken version 3 must "+
		"go on to do so, or get a new key")
	return false
}

func (g *gate) grainsQuota() string {
	return fmt.Sprintf("more requests for its pillar than minion_quota_grains (%d an hour)", g.opt.hourly.grains)
}

func (g *gate) eventQuota() string {
	return fmt.Sprintf("more events than minion_quota_events (%d an hour)", g.opt.hourly.events)
}
