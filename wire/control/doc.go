// Package control is the protocol between tools and daemons on a daemon's control socket, brine.ipc in its sock_dir:
// what can be asked, what is answered, and which version of it both ends speak. Frames and sockets are wire/ipc's; what
// the answers say is made by actors/admin and the daemons. It has no counterpart in Salt.
//
// A question is a struct here, for both ends: a tool passes it to Ask, a daemon gives On a function for it. On the wire
// it is a map, and so is the reply:
//
//	{cmd: NAME, v: VERSION, until: MICROSECONDS, ...}    until: after that the one who asks waits no more
//	{v: VERSION, result: VALUE}                          no result: the daemon speaks another version and did nothing
//	{error: TEXT}                                        the daemon says why it did not do it
//
// The version grows when a name or a field changes its meaning or goes away. What is added needs none: an end passes
// over fields that it does not know, and takes one that is missing for zero. Answers that tools show as JSON keep what
// this end does not know (the field Raw). Both ends refuse another version with a *VersionError, before anything is
// done.
package control
