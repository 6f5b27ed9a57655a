// Package saltminion is the tool salt-minion and the process of one of its jobs. The minion itself is actors/minion. It
// answers to salt/cli/daemons.py, class Minion.
package saltminion

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"brine/actors/minion"
	"brine/cmd/daemon"
	"brine/cmd/options"
	"brine/cmd/saltrun"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/config"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/pillar"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/auth/trust"
	"brine/wire/crypt"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// Run runs a minion (salt-minion).
func Run(c *tool.Call) error {
	p := options.NewParser(c, "%prog [options]", "The minion: takes jobs from a master and runs them here.")
	options.AddConfigDir(p)
	options.AddUser(p)
	daemon.AddOptions(p, "/var/run/salt-minion.pid")
	options.AddLogging(p, true, "log_file", "/var/log/salt/minion")
	daemon.AddKeepalive(p, "minion")
	s, err := session.Open(c, p, session.Opening{Role: session.RoleMinion, Daemon: true, Check: daemon.CheckStanding})
	if err != nil {
		return err
	}
	if err := daemon.VerifyEnv(s, s.Minion.VerifyEnv, s.Minion.Environment()); err != nil {
		return err
	}
	if daemon.AlreadyRunning(s) {
		s.Log.Info("An instance is already running. Exiting the Salt Minion")
		return tool.Exit(tool.ExitGeneric, "The Salt Minion is shutdown.")
	}
	if detached, err := daemon.Background(s); detached || err != nil {
		return err
	}
	s.Log.Info(fmt.Sprintf("Setting up the Salt Minion %q", s.Minion.ID))
	ended := make(chan daemon.ExitRequest, 1)
	return daemon.Serve(s, daemon.Lifecycle{
		Title: "Salt Minion", Class: "Minion", Exit: ended,
		Start: func() (daemon.Service, error) { return startMinion(s, ended) },
		Closed: func(why string) string {
			if why == "" {
				return "The Salt Minion is shutdown."
			}
			return "The Salt Minion is shutdown. " + why
		},
		Lost: lostWith,
	})
}

// lostWith says what went with the process before this one.
func lostWith(svc daemon.Service) string {
	jobs := "no job ran"
	if m, ok := svc.(*minionService); ok {
		switch n := m.m.Orphans(); n {
		case 0:
		case 1:
			jobs = "1 job ran and is answered as ended"
		default:
			jobs = fmt.Sprintf("%d jobs ran and are answered as ended", n)
		}
	}
	return "lost: what its actors had in hand; " + jobs + ", and returns on disk are kept"
}

// minionService is a running minion with what it was given.
type minionService struct {
	m    *minion.Minion
	zctx *zmq.Context
	wait time.Duration
	// nodegroups are those of the latest configuration.
	nodegroups *atomic.Pointer[payload.Map]
}

func (s *minionService) Reload(fresh *session.Session) {
	s.nodegroups.Store(fresh.Minion.Raw.Map("nodegroups"))
	s.m.Reload(fresh.Minion)
}

// Supervisor is the root of its actors.
func (s *minionService) Supervisor() *supervisor.Supervisor { return s.m.Supervisor() }

func (s *minionService) End() (supervisor.Report, error) {
	report, err := s.m.Stop(s.wait)
	if err == nil {
		err = s.zctx.Close()
	}
	return report, err
}

// OwnKey reads a minion's own key, or makes it. One that others can break is refused.
func OwnKey(cfg *config.Minion) (*crypt.PrivateKey, error) {
	key, err := crypt.LoadOrGenerate(cfg.PKIDir, "minion", cfg.KeySize, "")
	if err != nil {
		return nil, err
	}
	if weak := key.Public().Weak(); weak != nil && !cfg.AllowWeakKeys {
		return nil, fmt.Errorf("the key of this minion in %s: %w; make another one, or see allow_weak_keys", cfg.PKIDir,
			weak)
	}
	return key, nil
}

// startMinion puts a minion together: keys, functions, grains, sockets.
func startMinion(s *session.Session, ended chan<- daemon.ExitRequest) (daemon.Service, error) {
	cfg := s.Minion
	ok, err := s.BecomeUser(cfg.User)
	if err != nil || !ok {
		return nil, err
	}
	daemon.TellStanding(s)
	daemon.KeepPrograms(s, "")
	key, err := OwnKey(cfg)
	if err != nil {
		return nil, err
	}
	zctx, err := zmq.NewContext(1)
	if err != nil {
		return nil, err
	}
	network, err := networkOf(cfg, zctx)
	if err != nil {
		return nil, errors.Join(err, zctx.Close())
	}
	machine := saltrun.MachineOf(cfg.ID, cfg.Raw)
	reg, kept := machine.Functions(), machine.Returners()
	set, err := daemon.MetricSet(s, "minion", "Jobs/Job-")
	if err != nil {
		return nil, err
	}
	nodegroups := &atomic.Pointer[payload.Map]{}
	nodegroups.Store(cfg.Raw.Map("nodegroups"))
	opt := minion.Options{
		Config: cfg, Logger: s.Log, Network: network, Registry: reg,
		SignIn: func(config.MasterAddr) (*auth.Minion, error) {
			return auth.NewMinion(SignInOptions(cfg, key, machine.Grains().Get))
		},
		Grains: func(fresh bool) minion.Grains {
			machine := machine
			machine.Refresh = fresh
			return machine.Grains()
		},
		Match: func(job *payload.Job, about matchers.Facts) bool {
			return matches(s, job, about, nodegroups.Load())
		}, Complete: saltrun.OfferMaster(s.Log),
		Returners: kept,
		Exit: func(e minion.Exit) {
			select {
			case ended <- daemon.ExitRequest{Code: e.Code, Text: e.Text}:
			default: // it ends already
			}
		},
	}
	if cfg.FileClient == "local" {
		opt.OwnPillar = func(env *loader.Env) loader.PillarSource { return pillar.NewOwn(env) }
	}
	if set != nil {
		opt.OnDeath, opt.Metrics = set.OnDeath, set.Registerer()
	}
	if e, ok := s.Parent.Before(); ok {
		opt.Predecessor = e.How()
	}
	m, err := minion.Start(opt)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(daemon.AddControl(s, m.Supervisor(), minionAnswers(m)), daemon.AddMetrics(s, m.Supervisor(),
		set)); err != nil {
		_, stopErr := m.Stop(cfg.StopTimeout)
		return nil, errors.Join(err, stopErr, zctx.Close())
	}
	s.Log.Info(fmt.Sprintf("Minion is starting as user '%s'", session.RunningUser()))
	return &minionService{m: m, zctx: zctx, wait: cfg.StopTimeout, nodegroups: nodegroups}, nil
}

// SignInOptions reads the options of the sign-in. Of the grains only those are asked for that autosign_grains names.
func SignInOptions(cfg *config.Minion, key *crypt.PrivateKey, grain func(string) (any, bool)) auth.MinionOptions {
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
		AllowWeakKeys: cfg.AllowWeakKeys, MasterFinger: cfg.MasterFinger, HashType: cfg.HashType,
		VerifyMasterPubkey: cfg.VerifyMasterPubkeySign, AlwaysVerifySignature: cfg.AlwaysVerifySignature,
		OpenMode: cfg.OpenMode, RejectedRetry: cfg.RejectedRetry, AuthSafemode: cfg.AuthSafemode,
		AcceptanceWait: cfg.AcceptanceWaitTime, AcceptanceWaitMax: cfg.AcceptanceWaitTimeMax,
		SignMessages: cfg.MinionSignMessages, SignPubMessages: cfg.SignPubMessages,
	}
}

// matches tells whether a publication means this minion; a target that cannot be read matches nobody.
func matches(s *session.Session, job *payload.Job, about matchers.Facts, nodegroups *payload.Map) bool {
	about.Nodegroups = nodegroups
	hit, err := matchers.Match(job.Tgt(), job.TgtType(), job.Delimiter(), &about)
	if err != nil {
		s.Log.Error("target cannot be matched", "jid", job.JID(), "err", err)
	}
	return hit
}
