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
	"brine/modules/args"
	"brine/modules/eauth"
	"brine/modules/keys"
	"brine/modules/matchers"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/crypt"
	"brine/wire/payload"
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
	s, err := c.open(p, opening{role: roleMaster, daemon: true})
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
	return s.serve(lifecycle{
		title: "Salt Master", class: "Master",
		start:  s.startMaster,
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

// masterService is a running master.
type masterService struct {
	m     *master.Master
	store interface{ Close() error }
	wait  time.Duration
}

func (s *masterService) stop() (supervisor.Report, error) {
	report, err := s.m.Stop(s.wait)
	return report, errors.Join(err, s.store.Close())
}

// startMaster puts a master together: user, keys, stores, actors.
func (s *session) startMaster() (service, error) {
	cfg := s.master
	ok, err := s.becomeUser(cfg.User)
	if err != nil || !ok {
		return nil, err
	}
	s.log.Info("Starting up the Salt Master")
	if cfg.HashType == "md5" || cfg.HashType == "sha1" {
		s.log.Warn(fmt.Sprintf("IMPORTANT: Do not use %s hashing algorithm! Please set \"hash_type\" to sha256 in Salt Master config!", cfg.HashType))
	}
	s.raiseOpenFiles()
	store := keys.NewStore(keys.Options{Dir: cfg.PKIDir})
	signIn, err := s.masterAuth(store)
	if err != nil {
		return nil, err
	}
	opened, err := s.openStores()
	if err != nil {
		return nil, err
	}
	local, err := cfg.AccessKeys(crypt.NewKeyString)
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	tools, err := s.masterTools(store, opened)
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	m, err := master.Start(master.Options{
		Config: cfg, Logger: s.log, Auth: signIn, Eauth: s.eauth(local), Keys: store,
		Cache: opened.cache, Store: opened, Tools: tools,
	})
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	s.log.Info(fmt.Sprintf("salt-master is starting as user '%s'", runningUser()))
	return &masterService{m: m, store: opened, wait: cfg.StopTimeout}, nil
}

// masterAuth makes the sign-in side of the master with its keys.
func (s *session) masterAuth(store *keys.Store) (*auth.Master, error) {
	cfg := s.master
	key, err := crypt.LoadMaster(cfg.PKIDir, cfg.ID, cfg.KeySize, cfg.KeyPass)
	if err != nil {
		return nil, err
	}
	opt := auth.MasterOptions{
		Key: key, Keys: store.ForAuth(cfg.AutosignTimeout), Sessions: keys.NewSessions(cfg.CacheDir, cfg.PublishSession), Logger: s.log,
		Rules: auth.Rules{AcceptAll: cfg.AutoAccept, AutosignFile: cfg.AutosignFile, AutorejectFile: cfg.AutorejectFile,
			GrainsDir: cfg.AutosignGrainsDir, Files: keys.RuleFiles{}},
		PublishPort: cfg.PublishPort, MinimumAuthVersion: cfg.MinimumAuthVersion, RequestServerTTL: cfg.RequestServerTTL,
		OpenMode: cfg.OpenMode, MaxMinions: cfg.MaxMinions, SignPublications: cfg.SignPubMessages,
		PublishSigAlgo: cfg.PublishSigningAlgorithm, SigningAlgorithm: cfg.Raw.Str("signing_algorithm"),
		RequireSignature: cfg.RequireMinionSignMessages, DropBadSignature: cfg.DropMessagesSignatureFail,
	}
	if cfg.MasterSignPubkey {
		if opt.SignKey, opt.PubSig, err = signingKey(cfg); err != nil {
			return nil, err
		}
	}
	return auth.NewMaster(opt)
}

// eauth makes the service that decides who may do what.
func (s *session) eauth(local eauth.Keys) *eauth.Service {
	cfg := s.master
	return eauth.New(eauth.Options{
		External: cfg.ExternalAuth, PublisherACL: cfg.PublisherACL, SharedSecret: cfg.Raw.Str("sharedsecret"),
		User: cfg.User, RunningUser: runningUser(), Keys: local, TokenDir: cfg.TokenDir, TokenExpire: cfg.TokenExpire,
		ExpireOverride: cfg.TokenExpireUserOverride, KeepACL: cfg.KeepACLInToken, Permissive: cfg.PermissiveACL,
		SudoACL: cfg.SudoACL, RequireAll: cfg.ACLRequireAll,
	})
}

// masterTools are the functions of other packages that the master's workers call.
func (s *session) masterTools(store *keys.Store, opened *masterStores) (master.Tools, error) {
	cfg := s.master
	expander := &matchers.Expander{Source: targetSource{store, opened.cache}, Nodegroups: cfg.Nodegroups, DataCache: cfg.MinionDataCache}
	run, err := s.functionRunner(store, opened, expander)
	return master.Tools{
		RunningUser: runningUser(), Glob: matchers.GlobMatch,
		Expand: func(tgt any, tgtType, delimiter string, greedy bool) ([]string, []string) {
			found, err := expander.Expand(tgt, tgtType, delimiter, greedy)
			if err != nil {
				s.log.Error("target cannot be expanded", "tgt", tgt, "tgt_type", tgtType, "err", err)
			}
			return found.Minions, found.Missing
		},
		ParseArgs: func(in, noParse []any) []any {
			pos, kw := args.Split(in, onlyTexts(noParse))
			return args.Condition(pos, kw)
		},
		SplitArgs: func(in []any) ([]any, *payload.Map) { return args.Split(in, nil) },
		TakeDrop:  func() (bool, error) { return s.takeDrop() },
		RevokeKey: func(id string, preserve bool) error { return s.revokeKey(store, opened, id, preserve) },
		Run:       run,
	}, err
}

func onlyTexts(list []any) []string {
	out := make([]string, 0, len(list))
	for _, v := range list {
		if t, ok := v.(string); ok {
			out = append(out, t)
		}
	}
	return out
}

// takeDrop looks for the file by which salt-key asks for a new key.
func (s *session) takeDrop() (bool, error) {
	asked, bad, err := keys.TakeDrop(s.master.CacheDir, s.master.ID)
	if bad {
		s.log.Log(context.Background(), saltlog.LevelTrace, "the request for a new key has the wrong mode and is ignored")
	}
	return asked, err
}

// raiseOpenFiles lifts the limit of open files as far as it goes (max_open_files).
func (s *session) raiseOpenFiles() {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		s.log.Warn("limit of open files", "err", err)
		return
	}
	want := min(s.master.MaxOpenFiles, lim.Max)
	if lim.Cur >= want {
		return
	}
	lim.Cur = want
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		s.log.Warn("limit of open files cannot be raised", "err", err)
	}
}

// signingKey reads or makes the pair that vouches for the master's key, and the precomputed signature when
// that is to be sent (master_use_pubkey_signature).
func signingKey(cfg *config.Master) (*crypt.PrivateKey, string, error) {
	key, err := crypt.LoadOrGenerate(cfg.PKIDir, cfg.MasterSignKeyName, cfg.KeySize, cfg.SigningKeyPass)
	if err != nil || !cfg.MasterUsePubkeySignature {
		return key, "", err
	}
	name := cfg.MasterPubkeySignature
	if name == "" {
		name = "master_pubkey_signature"
	}
	sig, err := os.ReadFile(filepath.Join(cfg.PKIDir, name))
	if err != nil {
		return nil, "", fmt.Errorf("precomputed signature: %w", err)
	}
	return key, string(sig), nil
}
