package ports

import (
	"log/slog"
	"syscall"

	"brine/wire/ipc"
)

// Descriptors of a process that are not for connections at the two ports: its own sockets, files and event
// descriptors, those of files that workers open, and those of local tools.
const (
	ownDescriptors = 64
	fileShare      = 16 // one in so many is for files
	leastPeers     = 8  // connections at one port, however few descriptors there are
	toolSockets    = 3  // where local tools connect: two of the bus, and the control socket
)

// peersOf is how many connections one of the two ports may have. Connections must not take the last descriptor: libzmq
// then tries to accept without a pause, and the master can open no file, nor answer an operator.
func peersOf(most int, descriptors uint64, tools int) int {
	free := int64(min(descriptors, 1<<30))
	free -= ownDescriptors + free/fileShare + int64(tools)
	room := max(int(free/2), leastPeers)
	if most > 0 {
		room = min(room, most)
	}
	return room
}

// MaxPeers is peersOf for this process.
func (p *Ports) MaxPeers() int {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		p.log.Warn("limit of open files", "err", err)
		return p.maxConnections
	}
	return peersOf(p.maxConnections, lim.Cur, toolSockets*ipc.MaxPeers())
}

// Full says when a port has as many connections as it may, and when it has room again.
func Full(log *slog.Logger, port int) func(full bool, peers int, who string) {
	return func(full bool, peers int, who string) {
		if full {
			log.Error("a port has as many connections as it may: the address with the most loses its newest "+
				"(max_connections, max_open_files)",
				"port", port, "connections", peers, "most", who)
			return
		}
		log.Warn("a port has room for connections again", "port", port, "connections", peers)
	}
}
