package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"brine/actors/master"
	"brine/cmd/saltlog"
	"brine/config"
	"brine/supervisor"
)

// exitPortsTaken is the code of a master whose ports are taken.
const exitPortsTaken = 4

// saltMaster runs a master (salt-master).
func saltMaster(c *call) error {
	p := c.parser("%prog [options]", "The master: holds the keys of the minions and gives them jobs.")
	addConfigDir(p)
	addUser(p)
	addDaemon(p, "/var/run/salt-master.pid")
	addLogging(p, true, "log_file", "/var/log/salt/master")
	s, err := c.open(p, opening{role: roleMaster, daemon: true, check: checkStanding})
	if err != nil {
		return err
	}
	if err := s.verifyEnv(s.master.VerifyEnv, s.master.Environment()); err != nil {
		return err
	}
	s.log.Info("Setting up the Salt Master")
	if err := s.probePorts(); err != nil {
		return err
	}
	if detached, err := s.background(); detached || err != nil {
		return err
	}
	own, err := master.LoadKeys(s.master)
	if err != nil {
		return err
	}
	if err := s.giveKeys(); err != nil {
		return err
	}
	return s.serve(lifecycle{
		title: "Salt Master", class: "Master",
		start:  func() (service, error) { return s.startMaster(own) },
		closed: func(why string) string { return "The salt master is shutdown. " + why },
	})
}

// probePorts binds both ports once, so that a second master ends before it has changed anything.
func (s *session) probePorts() error {
	for _, port := range []int{s.master.PublishPort, s.master.RetPort} {
		addr := net.JoinHostPort(strings.Trim(s.master.Interface, "[]"), strconv.Itoa(port))
		l, err := (&net.ListenConfig{Control: reuseAddr}).Listen(context.Background(), "tcp", addr)
		if err == nil {
			err = l.Close()
		}
		if err == nil {
			continue
		}
		var no syscall.Errno
		errors.As(err, &no)
		s.log.Warn(fmt.Sprintf("Unable to bind socket %s:%d, error: [Errno %d] %s; Is there another salt-master running?",
			s.master.Interface, port, int(no), sentence(no.Error())))
		return exit(exitPortsTaken, "The salt master is shutdown. The ports are not available to bind")
	}
	return nil
}

func reuseAddr(_, _ string, c syscall.RawConn) error {
	var err error
	if ctlErr := c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) }); ctlErr != nil {
		return ctlErr
	}
	return err
}

// sentence begins a text with a capital letter.
func sentence(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// giveKeys lets the configured user own the key files that root has made.
func (s *session) giveKeys() error {
	if os.Geteuid() != 0 || s.master.User == "" || s.master.User == runningUser() {
		return nil
	}
	uid, gid, err := userIDs(s.master.User)
	if err != nil {
		return err
	}
	for _, ending := range []string{"*.pem", "*.pub"} {
		files, err := filepath.Glob(filepath.Join(s.master.PKIDir, ending))
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
	wait time.Duration
}

func (s *masterService) stop() (supervisor.Report, error) { return s.Stop(s.wait) }

// startMaster gives up root where another user is configured and starts the actors.
func (s *session) startMaster(own *master.Keys) (service, error) {
	cfg := s.master
	ok, err := s.becomeUser(cfg.User)
	if err != nil || !ok {
		return nil, err
	}
	s.log.Info("Starting up the Salt Master")
	s.tellStanding()
	if cfg.HashType == "md5" || cfg.HashType == "sha1" {
		s.log.Warn(fmt.Sprintf("IMPORTANT: Do not use %s hashing algorithm! Please set \"hash_type\" to sha256 in Salt Master config!", cfg.HashType))
	}
	s.raiseOpenFiles()
	if err := s.preFlight(); err != nil {
		return nil, err
	}
	set, err := s.metricSet("master", "Runner-")
	if err != nil {
		return nil, err
	}
	opt := master.Options{Config: cfg, Logger: s.log, Keys: own, RunningUser: runningUser(), Version: saltVersion, Memory: s.memory}
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
	if err := errors.Join(s.addControl(m.Supervisor(), masterAnswers(m)), s.addMetrics(m.Supervisor(), set)); err != nil {
		_, stopErr := m.Stop(cfg.StopTimeout)
		return nil, errors.Join(err, stopErr)
	}
	s.log.Info(fmt.Sprintf("salt-master is starting as user '%s'", runningUser()))
	return &masterService{m, cfg.StopTimeout}, nil
}

// preFlight makes the checks of salt/master.py, _pre_flight, that concern this master.
func (s *session) preFlight() error {
	var failed []string
	if err := os.Chdir("/"); err != nil {
		failed = append(failed, fmt.Sprintf("Cannot change to root directory (%s)", err))
	}
	if len(s.master.FileserverBackend) == 0 {
		failed = append(failed, "No fileserver backends are configured")
	}
	for _, text := range failed {
		s.log.Error(text)
	}
	if len(failed) == 0 {
		return nil
	}
	s.log.Log(context.Background(), saltlog.LevelCritical, "Master failed pre flight checks, exiting\n")
	return exit(exitGeneric, "")
}

// raiseOpenFiles lifts the limit of open files as far as it goes (max_open_files).
func (s *session) raiseOpenFiles() {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		s.log.Warn("limit of open files", "err", err)
		return
	}
	s.log.Info(fmt.Sprintf("Current values for max open files soft/hard setting: %d/%d", lim.Cur, lim.Max))
	want := min(s.master.MaxOpenFiles, lim.Max)
	if lim.Cur >= want {
		return
	}
	s.log.Info(fmt.Sprintf("Raising max open files value to %d", want))
	lim.Cur = want
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		s.log.Log(context.Background(), saltlog.LevelCritical, fmt.Sprintf("Failed to raise max open files setting to %d", want), "err", err)
	}
}
