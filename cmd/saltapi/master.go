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

// aliveWithin bounds how long a master may take to accept a connection.
const aliveWithin = 2 * time.Second

// alive is an error when nobody listens at the sockets of the master. Files of sockets that were left behind count for
// nothing.
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

// runnerFinder finds runner functions by this program's own, of which a master of brine has the same. One of Salt may
// have others, each a function of a module.
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
