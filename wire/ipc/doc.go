// Package ipc holds the local streams of a daemon: the two sockets of Salt's event bus and brine's own control socket.
// Peers with permission write events to the pull socket, and read all events from the pub socket. A slow, silent or
// hostile peer costs only its own connection, and no more memory than it sends. This package treats the bodies of
// events as bytes; see wire/event for their content.
//
// Addresses are paths of unix sockets, or "tcp://127.0.0.1:4512" for ipc_mode tcp.
//
// Answers to salt/transport/ipc.py, salt/transport/tcp.py and salt/transport/frame.py.
package ipc
