package console

import (
	"slices"
	"strings"

	"brine/modules/eauth"
	"brine/wire/payload"
)

// right is a function of the command line that shows or does the same as the console. A user needs the
// permission for it. Rules for brine's own views belong to a module brine: @brine, beside @runner and @wheel.
type right struct{ form, fun string }

// These are the names of rights, as Session.Can lists them.
const (
	rightNone   = ""       // every logged-in user
	rightFleet  = "fleet"  // ids, keys, connections
	rightKeys   = "keys"   // accept, reject and delete keys
	rightGrains = "grains" // cached grains of minions
	rightJobs   = "jobs"   // jobs of all users, with arguments and returns
	rightEvents = "events" // the bus
	rightActors = "actors" // the trees
	rightStacks = "stacks" // activity of goroutines, and stacks of deaths
	rightRun    = "run"    // at least one function on minions; the master checks each call
)

// needs returns the function for a right.
func needs(name string) (right, bool) {
	r, ok := map[string]right{
		rightFleet: {"wheel", "key.list_all"}, rightKeys: {"wheel", "key.accept"},
		rightGrains: {"runner", "cache.grains"}, rightJobs: {"runner", "jobs.lookup_jid"},
		rightEvents: {"runner", "state.event"}, rightActors: {"runner", "brine.tree"},
		rightStacks: {"wheel", "brine.stack"},
	}[name]
	return r, ok
}

// may tells whether rules grant a right.
func may(rules []any, name string) bool {
	if name == rightNone {
		return true
	}
	if name == rightRun {
		return mayRun(rules)
	}
	r, ok := needs(name)
	if !ok {
		return false
	}
	return eauth.AllowedForm(rules, r.form, r.fun, nil, nil) ||
		name == rightFleet && eauth.AllowedForm(rules, "runner", "manage.status", nil, nil)
}

// ownJob tells whether a job under the name user belongs to the session's user.
func (c *console) ownJob(who Session, user string) bool {
	return user == who.User && !eauth.OfMachine(user, c.MasterUsers...)
}

// mayRun tells whether a rule permits any function on minions, as a pattern or as a target with patterns.
func mayRun(rules []any) bool {
	for _, rule := range rules {
		switch x := rule.(type) {
		case string:
			if !strings.HasPrefix(x, "@") {
				return true
			}
		case *payload.Map:
			for k := range x.All() {
				if name, ok := k.(string); ok && !strings.HasPrefix(name, "@") {
					return true
				}
			}
		}
	}
	return false
}

// sameRights tells whether two sessions belong to the same user and have the same rights.
func sameRights(a, b Session) bool {
	return a.User == b.User && slices.Equal(rightsOf(a.Rules), rightsOf(b.Rules))
}

// rightsOf lists the rights that rules grant, in a fixed order.
func rightsOf(rules []any) []string {
	can := []string{}
	for _, name := range []string{rightFleet, rightKeys, rightGrains, rightJobs, rightEvents, rightActors, rightStacks,
		rightRun} {
		if may(rules, name) {
			can = append(can, name)
		}
	}
	return can
}
