// Package saltmaster is the tool salt-master: it starts a master and answers questions about it on the control
// socket. The master itself is actors/master. It answers to salt/cli/daemons.py, class Master.
package saltmaster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"brine/actors/master"
	"brine/cmd/daemon"
	"brine/cmd/options"
	"brine/cmd/saltlog"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/config"
	"brine/supervisor"
	"brine/wire/payload"
)

// tagProcessDied is the tag of an event about the end of the previous process. The new process fires it.
const tagProcessDied = "brine/process/died"

// listenersAreBack is the time after which the listeners on the bus have connected again.
const listenersAreBack = 3 * time.Second

// memoryCeiling is the ceiling for Go's memory in a master with up to 10,000 minions, in bytes. Pages of files
// and libzmq need further memory.
const memoryCeiling = 112 << 20

// Run runs a master (salt-master).
func Run(c *tool.Call) error {
	p := options.NewParser(c, "%prog [options]", "The master: holds the keys of the minions and gives them jobs.")
	options.AddConfigDir(p)
	options.AddUser(p)
	daemon.AddOptions(p, "/var/run/salt-master.pid")
	options.AddLogging(p, true, "log_file", "/var/log/salt/master")
	daemon.AddKeepalive(p, "master")
	s, err := session.Open(c, p, session.Opening{Role: session.RoleMaster, Daemon: true, Check: daemon.CheckStanding})
	if err != nil {
		return err
	}
	if err := daemon.VerifyEnv(s, s.Master.VerifyEnv, s.Master.Environment()); err != nil {
		return err
	}
	s.Log.Info("Setting up the Salt Master")
	if err := probePorts(s); err != nil {
		return err
	}
	if detached, err := daemon.Background(s); detached || err != nil {
		return err
	}
	own, err := master.LoadKeys(s.Master, s.Log)
	if err != nil {
		return err
	}
	if err := giveKeys(s); err != nil {
		return err
	}
	return daemon.Serve(s, daemon.Lifecycle{
		Title: "Salt Master", Class: "Master",
		Start:  func() (daemon.Service, error) { return startMaster(s, own) },
		Closed: func(why string) string { return "The salt master is shutdown. " + why },
		Memory: memoryCeiling,
		Lost: func(daemon.Service) string {
			return "lost: what its actors had in hand, requests not yet answered; kept: every return that was " +
				"acknowledged"
		},
	})
}

// giveKeys makes the configured user the owner of the key files that root has made.
func giveKeys(s *session.Session) error {
	if os.Geteuid() != 0 || s.Master.User == "" || s.Master.User == session.RunningUser() {
		return nil
	}
	uid, gid, err := session.UserIDs(s.Master.User)
	if err != nil {
		return err
	}
	for _, ending := range []string{"*.pem", "*.pub"} {
		files, err := filepath.Glob(filepath.Join(s.Master.PKIDir, ending))
		if err != nil {
			return fmt.Errorf("find key files: %w", err)
		}
		for _, f := range files {
			if err := config.Give(f, uid, gid); err != nil {
				return fmt.Errorf("give the keys to the user of the master: %w", err)
			}
		}
	}
	return nil
}

// masterService is a running master.
type masterService struct {
	*master.Master
	wait   time.Duration
	untold func() bool // cancels the event about the previous process if it is not fired yet
}

func (s *masterService) End() (supervisor.Report, error) {
	s.untold()
	return s.Stop(s.wait)
}

func (s *masterService) Reload(fresh *session.Session) { s.Master.Reload(fresh.Master) }

// startMaster changes to the configured user and starts the actors.
func startMaster(s *session.Session, own *master.Keys) (daemon.Service, error) {
	cfg := s.Master
	ok, err := s.BecomeUser(cfg.User)
	if err != nil || !ok {
		return nil, err
	}
	s.Log.Info("Starting up the Salt Master")
	daemon.TellStanding(s)
	daemon.KeepPrograms(s, "")
	if cfg.HashType == "md5" || cfg.HashType == "sha1" {
		s.Log.Warn(fmt.Sprintf("IMPORTANT: Do not use %s hashing algorithm! Please set \"hash_type\" to sha256 in "+
			"Salt Master config!", cfg.HashType))
	}
	raiseOpenFiles(s)
	if err := preFlight(s); err != nil {
		return nil, err
	}
	set, err := daemon.MetricSet(s, "master", "Runner-")
	if err != nil {
		return nil, err
	}
	opt := master.Options{Config: cfg, Logger: s.Log, Keys: own, RunningUser: session.RunningUser(),
		Version: tool.SaltVersion, Memory: s.Memory}
	if set != nil {
		opt.OnDeath, opt.Metrics = set.OnDeath, set.Registerer()
		if opt.Functions, err = knownFunctions(); err != nil {
			return nil, err
		}
	}
	m, err := master.Start(opt)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(daemon.AddControl(s, m.Supervisor(), masterAnswers(m)), daemon.AddMetrics(s, m.Supervisor(),
		set)); err != nil {
		_, stopErr := m.Stop(cfg.StopTimeout)
		return nil, errors.Join(err, stopErr)
	}
	untold := func() bool { return true }
	if e, ok := s.Parent.Before(); ok {
		untold = time.AfterFunc(listenersAreBack, func() {
			m.Fire(tagProcessDied, payload.M("process", "salt-master", "pid", e.PID, "how", e.How(), "deaths",
				e.Deaths))
		}).Stop
	}
	s.Log.Info(fmt.Sprintf("salt-master is starting as user '%s'", session.RunningUser()))
	return &masterService{m, cfg.StopTimeout, untold}, nil
}

// preFlight makes those checks of _pre_flight in salt/master.py that concern this master.
func preFlight(s *session.Session) error {
	var failed []string
	if err := os.Chdir("/"); err != nil {
		failed = append(failed, fmt.Sprintf("Cannot change to root directory (%s)", err))
	}
	if len(s.Master.FileserverBackend) == 0 {
		failed = append(failed, "No fileserver backends are configured")
	}
	for _, text := range failed {
		s.Log.Error(text)
	}
	if len(failed) == 0 {
		return nil
	}
	s.Log.Log(context.Background(), saltlog.LevelCritical, "Master failed pre flight checks, exiting\n")
	return tool.Exit(tool.ExitGeneric, "")
}

// raiseOpenFiles raises the limit of open files as far as possible (max_open_files).
func raiseOpenFiles(s *session.Session) {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		s.Log.Warn("limit of open files", "err", err)
		return
	}
	s.Log.Info(fmt.Sprintf("Current values for max open files soft/hard setting: %d/%d", lim.Cur, lim.Max))
	want := min(s.Master.MaxOpenFiles, lim.Max)
	if lim.Cur >= want {
		return
	}
	s.Log.Info(fmt.Sprintf("Raising max open files value to %d", want))
	lim.Cur = want
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		s.Log.Log(context.Background(), saltlog.LevelCritical, fmt.Sprintf("Failed to raise max open files setting "+
			"to %d", want), "err", err)
	}
}
