// Package saltapi is the tool salt-api: it reads the master's configuration, makes the servers that it names,
// and runs them as a daemon beside the master. The daemon itself is actors/netapi. It answers to
// salt/cli/api.py.
package saltapi

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"brine/actors/admin"
	"brine/actors/netapi"
	"brine/cmd/daemon"
	"brine/cmd/masterlink"
	"brine/cmd/options"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/config"
	"brine/modules/eauth"
	"brine/supervisor"
)

// memoryCeiling is the ceiling for Go's memory, in bytes, see daemon.Lifecycle.
const memoryCeiling = 96 << 20

// Run runs the REST servers (salt-api).
func Run(c *tool.Call) error {
	p := options.NewParser(c, "%prog [options]",
		"The REST servers of a master: rest_cherrypy, rest_tornado, rest_wsgi.")
	options.AddConfigDir(p)
	daemon.AddOptions(p, "/var/run/salt-api.pid")
	daemon.AddKeepalive(p, "salt-api")
	options.AddLogging(p, true, "api_logfile", "/var/log/salt/api")
	var conf *config.Netapi
	s, err := session.Open(c, p, session.Opening{Role: session.RoleClient, Daemon: true, LogFile: "api_logfile",
		Check: func(s *session.Session) (err error) {
			if conf, err = s.Master.NetapiOptions(); err != nil {
				return err
			}
			if !s.Opt.Given("api_logfile") { // a path on the command line is not below root_dir
				s.Opt.Default("api_logfile", conf.LogFile)
			}
			if !s.Opt.Given("pidfile") {
				s.Common.PidFile = conf.PIDFile
			}
			return nil
		}})
	if err != nil {
		return err
	}
	s.Log.Info("Setting up the Salt API")
	for _, n := range conf.Notices {
		s.Log.Log(context.Background(), n.Level, n.Text)
	}
	if daemon.AlreadyRunning(s) {
		return tool.Exit(tool.ExitGeneric, "An instance is already running. Exiting the Salt API")
	}
	if err := probe(conf); err != nil {
		return err
	}
	if detached, err := daemon.Background(s); detached || err != nil {
		return err
	}
	return daemon.Serve(s, daemon.Lifecycle{
		Title: "Salt API", Class: "SaltAPI", Memory: memoryCeiling,
		Start:  func() (daemon.Service, error) { return start(s, conf) },
		Closed: func(why string) string { return "The Salt API is shutdown. " + why },
		Lost:   func(daemon.Service) string { return "lost: sessions, requests under way" },
	})
}

// service is the running daemon.
type service struct {
	*netapi.Server
	wait   time.Duration
	rights *rights
	place  *place
}

func (s *service) End() (supervisor.Report, error) {
	report, err := s.Stop(s.wait)
	return report, errors.Join(err, s.place.leave())
}

// State is the folder for crash reports, below the cache directory of the master.
func (s *service) State() string { return s.place.name }

// Check reads the options of salt-api.
func (s *service) Check(fresh *session.Session) error {
	_, err := fresh.Master.NetapiOptions()
	return err
}

// Takes knows which options in the master's configuration belong to salt-api.
func (s *service) Takes(key string) (now, later bool) { return config.NetapiTakes(key) }

// Reload puts in force the options that may change.
func (s *service) Reload(fresh *session.Session) {
	conf, err := fresh.Master.NetapiOptions()
	if err != nil { // Check has found no error
		s.place.log.Error("the configuration cannot be used", "err", err)
		return
	}
	s.rights.follow(fresh.Master)
	s.Server.Reload(conf, fresh.Master.Nodegroups)
}

func start(s *session.Session, conf *config.Netapi) (daemon.Service, error) {
	ok, err := s.BecomeUser(s.Master.User)
	if err != nil || !ok {
		return nil, err
	}
	tokens := eauth.New(eauth.Options{Settings: s.Master.Raw, TokenDir: s.Master.TokenDir}) // the store of the master
	own := rightsOf(s)
	gate := netapi.NewLogInGate(s.Master.LoginFailuresMax, s.Log)
	opt := netapi.Options{Config: conf, Master: s.Master, Client: masterlink.NewGatedClient(s, gate.Pass),
		Logger: s.Log, Runners: runnerFinder(s), Revoke: tokens.Revoke, MayRun: own.mayRun, Ours: func() bool {
			return masterlink.Daemon(s) != nil
		},
		MasterAlive: func() error { return alive(s.Master) }, Modules: servers(s, conf, own)}
	if len(opt.Modules) == 0 {
		s.Log.Error("Did not find any netapi configurations, nothing to start")
	}
	srv, err := netapi.Start(opt)
	if err != nil {
		return nil, errors.Join(err, opt.Client.Close())
	}
	here, err := addControl(s, srv)
	if err != nil {
		_, stopErr := srv.Stop(s.Master.StopTimeout)
		return nil, errors.Join(err, stopErr)
	}
	daemon.KeepPrograms(s, here.name)
	s.Log.Info(fmt.Sprintf("salt-api is starting as user '%s'", session.RunningUser()))
	return &service{srv, s.Master.StopTimeout, own, here}, nil
}

// addControl lets the daemon answer questions about its actors, on its own control socket.
func addControl(s *session.Session, srv *netapi.Server) (*place, error) {
	here, err := takePlace(s.Common.SockDir, s.Log)
	if err != nil {
		return nil, err
	}
	common := *s.Common
	common.SockDir, common.CacheDir = filepath.Join(s.Common.SockDir, here.name), filepath.Join(s.Common.CacheDir,
		here.name)
	err = daemon.AddControl(&session.Session{Call: s.Call, Common: &common, Log: s.Log}, srv.Supervisor(),
		admin.Options{})
	if err != nil {
		return nil, errors.Join(err, here.leave())
	}
	return here, nil
}
