// Package attack attacks a master and its minions that run as real processes, and checks that what it tries comes to
// nothing. It has tests only and exports nothing; docs/security.md tells what is defended against whom.
//
// A file is a class of attacks: id handling, exposure of methods, impersonation, replay, downgrade, traversal, token life,
// log-in, injection, signatures, denial of service, event injection, secrets, weak keys, failing open, stale trust. Those
// who attack are people of roles_test.go: a stranger on the ports, a thief who has the key of a minion, a limited user, a
// neighbour on the machine. Each attack ends with good, a request of an honest user that must be answered within a second.
package attack
