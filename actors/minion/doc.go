// Package minion is the actor tree of a salt-minion: for each master a connection (Authenticator, Subscriber,
// ReturnSender), the Dispatcher that knows every running job, one Job actor per job, the Journal that remembers jobs
// and returns over a death, the Refresher that keeps grains and pillar, and the local event bus; minion.go starts
// them under one supervisor. A job runs at most once and is answered exactly once, whatever dies. The package holds
// no byte formats of the wire (wire) and runs no function itself (modules.Execute does). Answers to salt/minion.py
// and salt/cli/daemons.py.
package minion
