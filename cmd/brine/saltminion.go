package main

import (
	"errors"
	"fmt"
	"time"

	"brine/actors/minion"
	"brine/cmd/optparse"
	"brine/config"
	"brine/modules/matchers"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/auth/trust"
	"brine/wire/crypt"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// saltMinion runs a minion (salt-minion).
func saltMinion(c *call) error {
	p := c.parser("%prog [options]", "The minion: takes jobs from a master and runs them here.")
	addConfigDir(p)
	addUser(p)
	addDaemon(p, "/var/run/salt-minion.pid")
	addLogging(p, true, "log_file", "/var/log/salt/minion")
	p.Add(optparse.Option{Flags: []string{"--disable-keepalive"}, Kind: optparse.Flag, Help: "Do not start the minion again when its process dies, or ends with code 99."})
	s, err := c.open(p, opening{role: roleMinion, daemon: true, check: checkStanding})
	if err != nil {
		return err
	}
	if err := s.verifyEnv(s.minion.VerifyEnv, s.minion.Environment()); err != nil {
		return err
	}
	if s.alreadyRunning() {
		s.log.Info("An instance is already running. Exiting the Salt Minion")
		return exit(exitGeneric, "The Salt Minion is shutdown.")
	}
	if detached, err := s.background(); detached || err != nil {
		return err
	}
	s.log.Info(fmt.Sprintf("Setting up the Salt Minion %q", s.minion.ID))
	ended := make(chan exitRequest, 1)
	return s.serve(lifecycle{
		title: "Salt Minion", class: "Minion", exit: ended,
		start: func() (service, error) { return s.startMinion(ended) },
		closed: func(why string) string {
			if why == "" {
				return "The Salt Minion is shutdown."
			}
			return "The Salt Minion is shutdown. " + why
		},
	})
}

// minionService is a running minion with what it was given.
type minionService struct {
	m    *minion.Minion
	zctx *zmq.Context
	wait time.Duration
}

func (s *minionService) stop() (supervisor.Report, error) {
	report, err := s.m.Stop(s.wait)
	if err == nil {
		err = s.zctx.Close()
	}
	return report, err
}

// ownKey reads a minion's own key, or makes it. One that others can break is refused.
func ownKey(cfg *config.Minion) (*crypt.PrivateKey, error) {
	key, err := crypt.LoadOrGenerate(cfg.PKIDir, "minion", cfg.KeySize, "")
	if err != nil {
		return nil, err
	}
	if weak := key.Public().Weak(); weak != nil && !cfg.AllowWeakKeys {
		return nil, fmt.Errorf("the key of this minion in %s: %w; make another one, or see allow_weak_keys", cfg.PKIDir, weak)
	}
	return key, nil
}

// startMinion puts a minion together: keys, functions, grains, sockets.
func (s *session) startMinion(ended chan<- exitRequest) (service, error) {
	cfg := s.minion
	ok, err := s.becomeUser(cfg.User)
	if err != nil || !ok {
		return nil, err
	}
	s.tellStanding()
	key, err := ownKey(cfg)
	if err != nil {
		return nil, err
	}
	zctx, err := zmq.NewContext(1)
	if err != nil {
		return nil, err
	}
	machine := machineOf(cfg.ID, cfg.Raw)
	reg, err := machine.Functions()
	if err != nil {
		return nil, err
	}
	set, err := s.metricSet("minion", "Jobs/Job-")
	if err != nil {
		return nil, err
	}
	opt := minion.Options{
		Config: cfg, Logger: s.log, Context: zctx, Registry: reg,
		SignIn: func(config.MasterAddr) (*auth.Minion, error) {
			return auth.NewMinion(signInOptions(cfg, key, machine.Grains().Get))
		},
		Grains: func(fresh bool) minion.Grains {
			machine := machine
			machine.Refresh = fresh
			return machine.Grains()
		},
		Match: s.matches, Complete: offerMaster(s.log),
		Exit: func(e minion.Exit) {
			select {
			case ended <- exitRequest{e.Code, e.Text}:
			default: // it ends already
			}
		},
	}
	if set != nil {
		opt.OnDeath, opt.Metrics = set.OnDeath, set.Registerer()
	}
	if e, ok := s.parent.Before(); ok {
		opt.Predecessor = e.How()
	}
	m, err := minion.Start(opt)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.addControl(m.Supervisor(), minionAnswers(m)), s.addMetrics(m.Supervisor(), set)); err != nil {
		_, stopErr := m.Stop(cfg.StopTimeout)
		return nil, errors.Join(err, stopErr, zctx.Close())
	}
	s.log.Info(fmt.Sprintf("Minion is starting as user '%s'", runningUser()))
	return &minionService{m: m, zctx: zctx, wait: cfg.StopTimeout}, nil
}

// signInOptions reads the options of the sign-in. Of the grains only those are asked for that autosign_grains names.
func signInOptions(cfg *config.Minion, key *crypt.PrivateKey, grain func(string) (any, bool)) auth.MinionOptions {
	var autosign *payload.Map
	for _, name := range cfg.AutosignGrains {
		if autosign == nil {
			autosign = payload.NewMap(len(cfg.AutosignGrains))
		}
		v, _ := grain(name)
		autosign.Set(name, v)
	}
	return auth.MinionOptions{
		AutosignGrains: autosign,
		ID:             cfg.ID, Key: key, Trust: trust.Dir{Path: cfg.PKIDir, SignKey: cfg.MasterSignKeyName},
		EncAlgo: cfg.EncryptionAlgorithm, SigAlgo: cfg.SigningAlgorithm,
		AllowWeakKeys: cfg.AllowWeakKeys, MasterFinger: cfg.MasterFinger, HashType: cfg.HashType, VerifyMasterPubkey: cfg.VerifyMasterPubkeySign,
		AlwaysVerifySignature: cfg.AlwaysVerifySignature, OpenMode: cfg.OpenMode, RejectedRetry: cfg.RejectedRetry,
		AuthSafemode: cfg.AuthSafemode, AcceptanceWait: cfg.AcceptanceWaitTime, AcceptanceWaitMax: cfg.AcceptanceWaitTimeMax,
		SignMessages: cfg.MinionSignMessages, SignPubMessages: cfg.SignPubMessages,
	}
}

// matches tells whether a publication means this minion; a target that cannot be read matches nobody.
func (s *session) matches(load *payload.Map, about matchers.Facts) bool {
	about.Nodegroups = s.minion.Raw.Map("nodegroups")
	hit, err := matchers.Match(load.Value("tgt"), load.Str("tgt_type"), load.Str("delimiter"), &about)
	if err != nil {
		s.log.Error("target cannot be matched", "jid", load.Str("jid"), "err", err)
	}
	return hit
}
