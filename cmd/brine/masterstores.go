package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/modules"
	"brine/modules/keys"
	"brine/modules/matchers"
	"brine/modules/returners"
	"brine/modules/runners"
	"brine/modules/wheel"
	"brine/wire/payload"
)

// masterStores are the files a running master keeps open: the job store, and the data cache.
type masterStores struct {
	*returners.Store
	cache *returners.Banks
}

// openStores opens them. A job store that is damaged is put aside under another name, loudly, and begun anew.
func (s *session) openStores() (*masterStores, error) {
	cfg := s.master
	opt := returners.Options{CacheDir: cfg.CacheDir, HashType: cfg.HashType, Keep: cfg.KeepJobsSeconds,
		MaxBytes: cfg.JobStoreMaxBytes, EndTimes: cfg.JobCacheStoreEndtime}
	store, err := returners.Open(opt)
	if errors.Is(err, returners.ErrDamaged) {
		aside, moveErr := returners.SetAside(cfg.CacheDir, time.Now())
		s.log.Error("the job store is damaged and was put aside; a new one is begun", "kept", aside, "err", errors.Join(err, moveErr))
		store, err = returners.Open(opt)
	}
	if err != nil {
		return nil, fmt.Errorf("job store: %w", err)
	}
	banks, err := returners.OpenBanks(cfg.CacheDir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("data cache: %w", err), store.Close())
	}
	return &masterStores{Store: store, cache: banks}, nil
}

// targetSource is what the master knows of its minions when it expands a target.
type targetSource struct {
	keys *keys.Store
	*returners.Banks
}

// Accepted lists the ids with an accepted key.
func (t targetSource) Accepted() ([]string, error) { return t.keys.IDs(keys.Accepted) }

// keyCache is the data cache as the key manager clears it.
type keyCache struct{ *returners.Banks }

// Flush removes an entry; one that is not there is no error.
func (c keyCache) Flush(bank, key string) error {
	_, err := c.Banks.Flush(bank, key)
	return err
}

// keyManager changes keys on the master's behalf.
func (s *session) keyManager(store *keys.Store, opened *masterStores, preserve bool) *keys.Manager {
	cfg := s.master
	return keys.NewManager(store, keys.ManagerOptions{CacheDir: cfg.CacheDir, MasterID: cfg.ID, HashType: cfg.HashType,
		RotateAESKey: cfg.RotateAESKey, PreserveMinions: preserve, PreserveMinionCache: cfg.PreserveMinionCache,
		KeySize: cfg.KeySize, PublicSignature: cfg.MasterPubkeySignature, SignKeyName: cfg.MasterSignKeyName, Data: keyCache{opened.cache}})
}

// revokeKey deletes the key of a minion that asks for it.
func (s *session) revokeKey(store *keys.Store, opened *masterStores, id string, preserve bool) error {
	m := s.keyManager(store, opened, preserve)
	sel, err := m.MatchList([]string{id})
	if err == nil {
		_, err = m.Delete(sel)
	}
	return err
}

// functionRunner runs runner and wheel functions inside the master.
func (s *session) functionRunner(store *keys.Store, opened *masterStores, exp *matchers.Expander) (
	func(context.Context, runners.Request, func(string, *payload.Map)) *runners.Result, error) {
	manager := s.keyManager(store, opened, false)
	wheels, runs := modules.NewRegistry(), modules.NewRegistry()
	opt := runners.Options{Jobs: opened.Store, Data: opened.cache, Keys: manager, Targets: exp, Runners: runs, Wheel: wheels, Version: saltVersion}
	if err := errors.Join(wheel.Register(wheels, wheel.Options{Keys: manager}), runners.Register(runs, opt)); err != nil {
		return nil, err
	}
	env := func(reg *modules.Registry) *modules.Env {
		return &modules.Env{Registry: reg, ID: s.master.ID, Opts: func() *payload.Map { return s.master.Raw }}
	}
	envs := map[runners.Kind]*modules.Env{runners.KindRunner: env(runs), runners.KindWheel: env(wheels)}
	return func(ctx context.Context, req runners.Request, fire func(string, *payload.Map)) *runners.Result {
		return runners.Run(ctx, envs[req.Kind], req, fire)
	}, nil
}
