package master

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/modules/matchers"
	"brine/wire/auth"
	"brine/wire/payload"
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

// say puts an event of a minion on the bus: the only way there for what comes from minions, returns excepted. size is how
// many bytes it has; 0 when it was refused. data is not kept, but may lose fields.
func (c *core) say(who speaker, tag string, data *payload.Map) (size int) {
	if why := c.forbidden(who, tag, data); why != "" {
		c.deny(who.id, ledger.DeniedTag, 1, why+": "+payload.Show(tag))
		return 0
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
	body := c.events.pack(tag, data)
	if body == nil {
		return 0
	}
	if !c.quotas.Spend(who.id, quotaEventBytes, len(body), who.share(), time.Now()) {
		c.deny(who.id, ledger.DeniedEvents, 1, fmt.Sprintf("more bytes of events than minion_quota_event_bytes (%d an hour)", c.cfg.MinionQuotaEventBytes))
		return 0
	}
	c.events.put(body)
	return len(body)
}

// forbidden says why a minion may not fire an event; "" when it may.
func (c *core) forbidden(who speaker, tag string, data *payload.Map) string {
	if tag == "" || len(tag) > payload.MaxTag || strings.IndexFunc(tag, unicode.IsControl) >= 0 {
		return "no tag of an event"
	}
	if imitates(tag) && !c.whitelisted(tag) {
		return "a tag that looks like that of a job to whoever searches tags for one"
	}
	voice, id, made := gateFor(tag)
	if made {
		return ""
	}
	if said, has := data.Get("id"); has && said != who.id && !who.syndic {
		return "an event with the id of somebody else"
	}
	allowed := false
	switch voice {
	case anyone:
		allowed = true
	case itself:
		allowed = c.speaksFor(who, id)
	case bySyndic:
		allowed = who.syndic && id == who.id
	}
	if allowed || c.whitelisted(tag) {
		return ""
	}
	return "a tag that is not its own (minion_event_whitelist can allow it)"
}

// speaksFor tells whether a minion may speak under an id: its own, that of a resource which it manages, and if it is a syndic
// any that is no minion of this master.
func (c *core) speaksFor(who speaker, id string) bool {
	return id == who.id || c.managed.Manages(who.id, id) || who.syndic && auth.ValidID(id) && !c.keys.Has(keys.Accepted, id)
}

func (c *core) whitelisted(tag string) bool {
	for _, pattern := range c.cfg.MinionEventWhitelist {
		if matchers.GlobMatch(pattern, tag) {
			return true
		}
	}
	return false
}

// tagDenied tells operators of what a minion was refused.
const tagDenied = "brine/minion/refused"

// deny counts what a minion was refused, and says so: the first time, and then once in a while.
func (c *core) deny(id string, what ledger.Denial, n int, why string) {
	if n <= 0 || !auth.ValidID(id) {
		return
	}
	c.meter.fail(failedForbidden)
	total, tell := c.book.Peers.Deny(id, what, n, ledger.At(time.Now()))
	if !tell {
		return
	}
	c.log.Warn("a minion was refused what it may not do", "minion", id, "what", what.String(), "why", why, "count", total)
	c.events.fire(tagDenied, payload.M("id", id, "what", what.String(), "why", why, "count", total))
}
