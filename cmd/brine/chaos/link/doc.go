// Package link is a network between minions and a master that tests and measurements can break on purpose.
//
// A Proxy is a TCP port of this machine that leads to another port. One proxy leads to the publish port of a
// master and one to its request port. The minion's configuration contains the ports of the proxies. The faults
// are those of a real network: data arrives late, or arrives after the network is repaired, or its connection
// is lost. Data inside a connection is never lost, changed or repeated, because TCP permits none of that. Each
// fault is a method:
//
//	Cut      no data passes, in one direction or both; connections stay open; sent data waits for Restore
//	Reset    every connection ends with a reset on both sides; new ones are accepted
//	Refuse   new connections are refused; open ones stay
//	Delay    sent data arrives later, by a fixed time and a random one
//	Trickle  sent data arrives a few bytes at a time
//	Restore  ends all faults
//
// All methods are safe for concurrent use, in any order and number.
//
// A Network does the same with network namespaces, if the kernel and the rights of the process permit them.
// There the packets themselves are late or lost, no proxy accepts connections, and each side must notice faults
// itself. A cable consists of TUN devices with this process in between.
//
// The package knows nothing about Salt, ZeroMQ, or the data.
package link
