// Package react is the Reactor of a minion, on what actors/reacting has for both daemons: events of its own bus make it
// run functions of this minion. It owns the backlog of events that it has yet to react to. Reactions go to Options.Run
// as jobs of which no master hears.
package react
