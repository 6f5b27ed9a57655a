// Package events is a minion's own event bus (EventBus), by which functions and local tools ask the minion for things,
// and what the minion does about these events. It owns the sockets of the bus and who listens. It asks the Refresher
// for grains and pillar, hands requests for the schedule to Options.Manage, and sends to the masters by their links.
// Answers to Minion.handle_event of salt/minion.py.
package events
