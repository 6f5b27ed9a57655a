package access

import (
	"fmt"
	"log/slog"
	"time"

	"brine/actors/master/eventbus"
	"brine/actors/master/meter"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/quota"
	"brine/modules/fleet/speakers"
	"brine/wire/auth"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python/fnmatch"
)

// Speaker is the minion that has sent a request.
type Speaker struct {
	ID     string
	Syndic bool // it speaks for those below it
}

// Share is how many times a minion's quota it has.
func (s Speaker) Share() int {
	if s.Syndic {
		return syndicShare
	}
	return 1
}

// AdmissionOptions are what the configuration says of what minions may say.
type AdmissionOptions struct {
	Hourly    Hourly
	Whitelist []string // minion_event_whitelist: globs of tags that any minion may fire; none: no others than its own
	DataMost  int64    // minion_data_max_bytes of its grains, or of its mine; 0 or less: any size
	Voices    VoiceOptions
}

// Admission lets in what minions say, or refuses it. It knows which events each minion may fire and how many, and
// counts its refusals. Any number of goroutines may use it.
type Admission struct {
	Opt     AdmissionOptions
	Voices  *voices
	Managed *speakers.Resources
	Quotas  *quota.Book
	keys    *keys.Store
	peers   *ledger.Peers
	events  *eventbus.Bus
	meter   *meter.Meter
	log     *slog.Logger
}

// NewAdmission knows minions by their keys and by what is kept of them.
func NewAdmission(opt AdmissionOptions, store *keys.Store, cache *datacache.Banks, peers *ledger.Peers,
	events *eventbus.Bus, meter *meter.Meter, log *slog.Logger) *Admission {
	return &Admission{Opt: opt, Voices: newVoices(opt.Voices, store, cache, log),
		Managed: &speakers.Resources{Keys: store, Cache: cache}, Quotas: opt.Hourly.book(), keys: store, peers: peers,
		events: events, meter: meter, log: log}
}

// Say puts an event of a minion on the bus: the only way there for what comes from minions, returns excepted. size is
// how many bytes it has; 0 when it was refused, and why. data is not kept, but may lose fields.
func (g *Admission) Say(who Speaker, tag string, data *payload.Map) (size int, why string) {
	if why := g.Forbidden(who, tag, data); why != "" {
		why += ": " + payload.Show(tag)
		g.Deny(who.ID, ledger.DeniedTag, 1, why)
		return 0, why
	}
	direct, forwarded := ofJob(tag)
	switch {
	case direct:
		for _, field := range Believed {
			data.Delete(field)
		}
	case forwarded:
		data.Delete(endsTools)
	}
	body := g.events.Pack(tag, data)
	if body == nil {
		return 0, "an event that cannot be packed"
	}
	if !g.Quotas.Spend(who.ID, quotaEventBytes, len(body), who.Share(), time.Now()) {
		why := fmt.Sprintf("more bytes of events than minion_quota_event_bytes (%d an hour)", g.Opt.Hourly.EventBytes)
		g.Deny(who.ID, ledger.DeniedEvents, 1, why)
		return 0, why
	}
	g.events.Put(body)
	return len(body), ""
}

// Forbidden says why a minion may not fire an event; "" when it may.
func (g *Admission) Forbidden(who Speaker, tag string, data *payload.Map) string {
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
	if said, has := event.Author(data); has && said != who.ID && !who.Syndic {
		return "an event with the id of somebody else"
	}
	allowed := false
	switch voice {
	case anyone:
		allowed = true
	case itself:
		allowed = g.SpeaksFor(who, id)
	case bySyndic:
		allowed = who.Syndic && id == who.ID
	}
	if allowed || g.whitelisted(tag) {
		return ""
	}
	return "a tag that is not its own (minion_event_whitelist can allow it)"
}

// SpeaksFor tells whether a minion may speak under an id: its own, that of a resource which it manages, and if it is a
// syndic any that is no minion of this master.
func (g *Admission) SpeaksFor(who Speaker, id string) bool {
	return id == who.ID || g.Managed.Manages(who.ID, id) || who.Syndic && auth.ValidID(id) && !g.keys.Has(keys.Accepted,
		id)
}

func (g *Admission) whitelisted(tag string) bool {
	for _, pattern := range g.Opt.Whitelist {
		if fnmatch.Match(pattern, tag) {
			return true
		}
	}
	return false
}

// tagDenied tells operators of what a minion was refused.
const tagDenied = "brine/minion/refused"

// Deny counts what a minion was refused, and says so: the first time, and then once in a while.
func (g *Admission) Deny(id string, what ledger.Denial, n int, why string) {
	if n <= 0 || !auth.ValidID(id) {
		return
	}
	g.meter.Fail(meter.FailedForbidden)
	total, tell := g.peers.Deny(id, what, n, ledger.At(time.Now()))
	if !tell {
		return
	}
	g.log.Warn("a minion was refused what it may not do", "minion", id, "what", what.String(), "why", why, "count",
		total)
	g.events.Fire(tagDenied, payload.M("id", id, "what", what.String(), "why", why, "count", total))
}

// Fits tells whether data of a minion is small enough to be kept.
func (g *Admission) Fits(data *payload.Map) bool {
	if g.Opt.DataMost <= 0 {
		return true
	}
	packed, err := payload.Marshal(data)
	return err == nil && int64(len(packed)) <= g.Opt.DataMost
}

// Proven tells whether a request is certainly that of the minion which it names. All of version 3 are; below it whoever
// has any accepted key can name any minion, unless a token comes with it (vouched). Those that minions send without one
// are taken where the configuration wants so (allowed), but not in the name of an id that has spoken version 3.
func (g *Admission) Proven(id string, vouched, allowed bool, why string) bool {
	if vouched {
		return true
	}
	if allowed && id != "" && !g.Voices.roles.Of(id).V3 {
		return true
	}
	g.Deny(id, ledger.DeniedVersion, 1, why+": in its name, perhaps not by it; one that has spoken version 3 must "+
		"go on to do so, or get a new key")
	return false
}

// GrainsQuota says why a minion gets no pillar any more.
func (g *Admission) GrainsQuota() string {
	return fmt.Sprintf("more requests for its pillar than minion_quota_grains (%d an hour)", g.Opt.Hourly.Grains)
}

// EventQuota says why a minion fires no events any more.
func (g *Admission) EventQuota() string {
	return fmt.Sprintf("more events than minion_quota_events (%d an hour)", g.Opt.Hourly.Events)
}
