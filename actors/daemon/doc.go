// Package daemon is what a master and a minion have in common as trees of actors: the table of children and the one way
// to start them, the bound on what waits for an actor, the handle of the event bus, and the daemon as its engines see
// it. It owns no state of a daemon and knows none of its parts: each part asks this package, and this package asks only
// the supervisor and what a part hands it. Master and minion keep what differs, such as what an event sets off.
package daemon
