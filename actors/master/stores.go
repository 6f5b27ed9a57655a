package master

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"brine/config"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/jobstore"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/presence"
	"brine/modules/host/packedfile"
	"brine/modules/runners"
)

// jobCache is the master job cache: the JobStore actor is its only writer, workers and runners read.
type jobCache interface {
	jobWriter
	jobReader
	pendingReader
	runners.JobStore
	Close() error
}

// stores are what a master keeps on disk.
type stores struct {
	keys     *keys.Store
	signIn   *keys.AuthKeys // keys, as the sign-in asks for them
	sessions *keys.Sessions
	jobs     jobCache
	cache    *datacache.Banks
	presence *presence.Finder
}

// openStores opens them.
func openStores(opt Options) (*stores, error) {
	cfg := opt.Config
	jobs, err := openJobs(cfg, opt.Logger)
	if err != nil {
		return nil, fmt.Errorf("job store: %w", err)
	}
	banks, err := datacache.OpenBanks(cfg.CacheDir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("data cache: %w", err), jobs.Close())
	}
	s := &stores{keys: keys.OpenStore(cfg), jobs: jobs, cache: banks,
		presence: &presence.Finder{Cache: banks, Port: cfg.PublishPort}}
	s.signIn, s.sessions = s.keys.ForAuth(cfg.AutosignTimeout), keys.NewSessions(cfg.CacheDir, cfg.PublishSession)
	if cfg.DetectRemoteMinions {
		s.presence.RemotePort = cfg.RemoteMinionsPort
	}
	return s, nil
}

func (s *stores) close() error {
	s.signIn.Close()
	s.sessions.Close()
	return s.jobs.Close()
}

// localCache is the value of master_job_cache that asks for Salt's own layout of files.
const localCache = "local_cache"

// openJobs opens the job cache. Unlike Salt: one embedded file, unless master_job_cache stands in the
// configuration with Salt's default as its value. A store that is damaged is put aside under another name,
// loudly, and begun anew.
func openJobs(cfg *config.Master, log *slog.Logger) (jobCache, error) {
	opt := jobstore.Options{CacheDir: cfg.CacheDir, Shared: cfg.Shared(), HashType: cfg.HashType, Keep: cfg.KeepJobsSeconds,
		MaxBytes: cfg.JobStoreMaxBytes, SyncNotes: cfg.JournalFsync, EndTimes: cfg.JobCacheStoreEndtime,
		Compact: jobstore.CompactWhen{MinBytes: cfg.JobStoreCompactMinBytes, Percent: cfg.JobStoreCompactPercent}}
	switch name := cfg.File.Str("master_job_cache"); name {
	case localCache:
		return jobstore.OpenLocalCache(opt)
	case "":
	default:
		log.Error("this master job cache does not exist here, brine's own is used", "master_job_cache", name)
	}
	store, err := jobstore.Open(opt)
	if errors.Is(err, packedfile.ErrDamaged) {
		aside, moveErr := jobstore.SetAside(cfg.CacheDir, time.Now())
		log.Error("the job store is damaged and was put aside; a new one is begun", "kept", aside, "err", errors.Join(err, moveErr))
		store, err = jobstore.Open(opt)
	}
	if err != nil {
		return nil, err
	}
	return store, nil
}
