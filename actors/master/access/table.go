package access

import (
	"strings"

	"brine/wire/event"
	"brine/wire/payload"
)

// voice is who may fire an event by a request. The master itself, and tools that write to the socket of its bus, may
// fire all: Admission does not see their events.
type voice int

const (
	nobody voice = iota // no minion
	anyone              // every minion
	// the minion whose id stands at <id>, or that manages the resource there; a syndic for what is below it
	itself
	bySyndic // the syndic whose id stands at <id>
)

// gateRule says who may fire the tags of a pattern: parts between slashes, of which "*" is any, "<id>" any that is the
// speaker's, "<jid>" a job id, and "..." at the end any number of further parts.
type gateRule struct {
	pattern []string
	who     voice
}

func rule(pattern string, who voice) gateRule { return gateRule{strings.Split(pattern, "/"), who} }

// gateTable tells for every tag who may fire it; the first rule that matches counts. The first part lists all that
// minions of Salt 3006 to 3008 fire in Salt's own namespace; the last rule is for tags that somebody made up, by
// event.send, states, engines and modules.
//
// Unlike Salt: 3008.3 lets a single event through under any tag, and those of a list under a pretag.
var gateTable = []gateRule{
	rule("salt/minion/<id>/...", itself),         // start
	rule("salt/syndic/<id>/start", itself),       // which is how an id says that it is a syndic
	rule("salt/beacon/<id>/...", itself),         // beacons
	rule("salt/job/*/prog/<id>/...", itself),     // state_events, and functions that yield
	rule("salt/job/*/start/<id>", itself),        // start_event
	rule("salt/state_result/*/<id>/...", itself), // fire_event of a state
	rule("salt/engines/...", anyone),             // engines that run on a minion: hook, slack, docker_events
	// auth, key, job, run, wheel, presence, stats, batch, cloud, event, reactors, netapi, cluster
	rule("salt/...", nobody),
	rule("minion_start", anyone),      // enable_legacy_startup_events
	rule("syndic_start", anyone),      // the same
	rule("minion_ping", anyone),       // ping_interval
	rule("_salt_error", anyone),       // a function that failed
	rule("syndic/<id>/...", bySyndic), // all that happens below a syndic
	rule("syndic/...", nobody),
	rule("<jid>/...", nobody),            // the short event of a new job
	rule("key/...", nobody),              // rotation
	rule("minion/refresh/...", nobody),   // the master's word of what it has cached
	rule("resource/refresh/...", nobody), // the same
	rule("cluster/...", nobody),
	rule("rotate_cluster_aes_key", nobody),
	rule("__schedule_return", nobody), // of the master's own schedule
	rule("brine/...", nobody),
	rule("...", anyone),
}

// gateFor is the rule for a tag, and what stands at <id>. own says that the tag is nobody's but those who made it up.
func gateFor(tag string) (who voice, id string, own bool) {
	parts := TagParts(tag)
	for i, r := range gateTable {
		if id, ok := r.match(parts); ok {
			return r.who, id, i == len(gateTable)-1
		}
	}
	return nobody, "", false
}

// TagParts are the parts of a tag that are not empty: a tag with more slashes is no other one to whoever looks for it.
func TagParts(tag string) []string {
	parts := strings.Split(tag, "/")
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

func (r gateRule) match(parts []string) (id string, ok bool) {
	for i, p := range r.pattern {
		if p == "..." {
			return id, true
		}
		if i >= len(parts) {
			return "", false
		}
		switch {
		case p == "*":
		case p == "<id>":
			id = parts[i]
		case p == "<jid>":
			if !payload.IsJID(parts[i]) {
				return "", false
			}
		case p != parts[i]:
			return "", false
		}
	}
	return id, len(parts) == len(r.pattern)
}

// Believed are the fields of an event of a job by which tools of Salt learn of other minions, and end: only the master
// says them.
var Believed = []string{"error", "minions", "missing", "return", "syndic"}

// endsTools is the one of them that ends a tool.
const endsTools = "error"

// ofJob tells whether tools take a tag for an event of a job: salt/job/JID/..., and what a syndic forwards of that.
func ofJob(tag string) (direct, forwarded bool) {
	parts := TagParts(tag)
	if len(parts) > 2 && parts[0] == "salt" && parts[1] == "job" {
		return true, false
	}
	if len(parts) == 0 || parts[0] != "syndic" {
		return false, false
	}
	return false, event.HoldsJID(tag)
}
