package saltapi

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"brine/cmd/masterlink"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/config"
	"brine/modules/all"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/event"
)

// aliveWithin bounds the time in which a master accepts a connection.
const aliveWithin = 2 * time.Second

// alive returns an error if no process listens on the sockets of the master. A socket file that was left behind
// does not count.
func alive(m *config.Master) error {
	network, addr := "unix", filepath.Join(m.SockDir, event.MasterPullSocket)
	if m.IPCMode == "tcp" {
		network, addr = "tcp", net.JoinHostPort("127.0.0.1", fmt.Sprint(m.TCPMasterPullPort))
	}
	conn, err := net.DialTimeout(network, addr, aliveWithin)
	if err != nil {
		return err
	}
	return conn.Close()
}

// runnerFinder finds runner functions in this program, because a brine master has the same. A Salt master may
// have others, so every name of the form MODULE.FUNCTION counts as known there.
func runnerFinder(s *session.Session) func(fun string) (*loader.Func, bool) {
	reg := loader.NewRegistry()
	reg.Offer(all.Runners(runners.Options{Runners: reg, Version: tool.SaltVersion}))
	reg.Limit(loader.LimitsOf(s.Master.Raw, "runners"))
	return func(fun string) (*loader.Func, bool) {
		f, known := reg.Lookup(fun)
		if !known && masterlink.Daemon(s) == nil {
			known = strings.Count(fun, ".") == 1
		}
		return f, known
	}
}
