// Package admin answers an operator about a running daemon, over brine's control socket: the tree of its
// actors, their deaths, and the commands that the daemon adds. It changes something only on an operator's
// request, and only root and the daemon's own user may request a change. It has no counterpart in Salt.
//
// Requests and replies are those of wire/control. A request of another version is refused.
//
//	tree                  the daemon with all its actors, see stats.Child for the fields
//	tree name: PATH       one actor with its descendants
//	history               the last 200 deaths, also those before the last start, oldest first
//	stack name: PATH      what the goroutines of an actor do; without name, all     (root or the daemon's user)
//	process               the daemon as a process: goroutines, memory, dead letters
//	bundle seconds: N     all of this and more, for a developer elsewhere           (root or the daemon's user)
//	help                  the names of all commands, and which of them change something or are private
//	restart name: PATH    end an actor and start it again                 (root or the daemon's user)
//	crash name: PATH how: panic, exit or hang; only if the daemon allows  (root or the daemon's user)
//
// A request may contain the time for which its sender waits. After that, commands that change something are
// refused.
//
// Times are UTC texts with microseconds, durations are milliseconds if the name of the field ends in _ms and
// microseconds if it ends in _us.
package admin
