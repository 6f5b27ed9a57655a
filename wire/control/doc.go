// Package control is the protocol between tools and daemons on a daemon's control socket, brine.ipc in its sock_dir:
// the questions, the answers, and the version that both ends must speak. Frames and sockets belong to wire/ipc;
// actors/admin and the daemons produce the answers. The package has no counterpart in Salt.
//
// A question is a struct here, for both ends: a tool passes it to Ask, a daemon registers a function for it with On. On
// the wire a question is a map, and so is the reply:
//
//	{cmd: NAME, v: VERSION, until: MICROSECONDS, ...}    until: the tool does not wait any longer
//	{v: VERSION, result: VALUE}                          no result: the daemon speaks another version and did nothing
//	{error: TEXT}                                        the reason why the daemon did not carry out the request
//
// The version grows when a name or a field changes its meaning or is removed. An addition does not need a new version:
// an end ignores unknown fields and reads missing ones as zero. Answers that tools show as JSON keep unknown fields
// (the field Raw). Both ends refuse another version with a *VersionError before they do anything.
package control
