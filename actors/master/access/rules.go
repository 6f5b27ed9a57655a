// Package access decides what users and minions may do. Rules are what a reload replaces: users, peers, node groups. A
// Admission owns the quotas of minions and what their ids have shown of themselves; it lets their events on the bus, or
// refuses them. It asks the key store, and tells the event bus and the meter.
package access

import (
	"time"

	"brine/modules/eauth"
	"brine/wire/payload"
)

// Rules are what a reload of the configuration replaces: who may do what, node groups, and how long a target may take.
// A value never changes: a request takes the one of its moment and is judged by it to its end, so that no request sees
// half of a change, and the next one after a reload sees all of it.
type Rules struct {
	Eauth         *eauth.Service // external_auth, publisher_acl, keys of local users, tokens
	Blacklist     *payload.Map   // publisher_acl_blacklist
	Fields        []string       // publisher_acl_fields
	Peer, PeerRun *payload.Map
	Nodegroups    *payload.Map
	TargetTimeout time.Duration
	Timeout       time.Duration // of the questions that the master's own functions ask minions
	GatherTimeout time.Duration // gather_job_timeout, likewise
}
