// Package admin answers an operator about a running daemon, over brine's control socket: the tree of its
// actors, their deaths, and whatever the daemon registers beside. It changes nothing but what an operator
// asks for, and only root and the daemon's own user may ask for a change. It has no counterpart in Salt.
//
// Requests and replies are those of wire/control. A request of another version is refused.
//
//	tree                  the daemon with all its actors, see stats.Child for the fields
//	tree name: PATH       one actor with what is below it
//	history               the last 200 deaths, those before the last start included, oldest first
//	stack name: PATH      what the goroutines of an actor do, of all without name   (root or the daemon's user)
//	process               the daemon as a process: goroutines, memory, dead letters
//	bundle seconds: N     all of this and more, for somebody who was not there      (root or the daemon's user)
//	help                  the names of all commands, and which of them change something or are private
//	restart name: PATH    end an actor and start it again                 (root or the daemon's user)
//	crash name: PATH how: panic, exit or hang; only if the daemon allows  (root or the daemon's user)
//
// A request may say how long its sender waits: what changes something is refused after that.
//
// Times are UTC texts with microseconds, durations are milliseconds if the name of the field ends in _ms
// and microseconds if it ends in _us.
package admin
