// Package ipc holds the local streams of a daemon: the two sockets of Salt's event bus (pull: anybody
// allowed writes events, pub: anybody allowed reads all of them) and brine's own control socket. A peer
// that is slow, silent or hostile costs its own connection and nobody else's, and no more memory than it
// sends. Bodies of events are bytes here, see wire/event for what is in them.
//
// Addresses are paths of unix sockets, or "tcp://127.0.0.1:4512" for ipc_mode tcp.
//
// Answers to salt/transport/ipc.py, salt/transport/tcp.py and salt/transport/frame.py.
package ipc
