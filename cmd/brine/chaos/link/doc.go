// Package link is the network between minions and a master that can be broken on purpose, for tests and measurements.
//
// A Proxy is a TCP port of this machine that leads to another one; one stands before the publish port of a master and
// one before its request port, and the minion's configuration names them. Its faults are those of a real network: what
// was sent is late, or comes after the network is whole again, or its connection is gone. Nothing in the middle of a
// connection is ever lost, changed or sent twice, as TCP allows none of it. The faults, each a method:
//
//	Cut      nothing passes, in one direction or both; the connections stand; what was sent waits for Restore
//	Reset    every connection ends with a reset on both sides; new ones are taken
//	Refuse   new connections are refused; those that stand stay
//	Delay    what is sent arrives later, by a fixed time and a random one
//	Trickle  what is sent arrives a few bytes at a time
//	Restore  ends all of them
//
// All methods may be called by any goroutine at any time, in any order and number.
//
// A Network does the same with network namespaces where the kernel and the rights of the process allow them: there the
// packets themselves are late or lost, nobody takes a connection, and each side has to find out by itself. Its cables
// are TUN devices and this process in between.
//
// It knows nothing of Salt, of ZeroMQ, and of what passes.
package link
