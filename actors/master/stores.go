package master

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"brine/modules/fleet/datacache"
	"brine/modules/fleet/jobstore"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/presence"
	"brine/modules/runners"
	"brine/wire/disk/setaside"
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

// storeOptions are what the configuration says of them.
type storeOptions struct {
	keys        *keys.Store
	jobs        jobstore.Options
	jobCache    string        // master_job_cache as it stands in a file; "": brine's own
	publishPort int           // whose connections show who is there
	remotePort  int           // remote_minions_port, likewise; 0: not looked at
	session     time.Duration // publish_session: life of the key of a minion's session; 0: for ever
	autosign    time.Duration // autosign_timeout
}

// openStores opens them.
func openStores(opt storeOptions, log *slog.Logger) (*stores, error) {
	dir := opt.jobs.CacheDir
	jobs, err := openJobs(opt.jobs, opt.jobCache, log)
	if err != nil {
		return nil, fmt.Errorf("job store: %w", err)
	}
	banks, err := datacache.OpenBanks(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("data cache: %w", err), jobs.Close())
	}
	banks.Own(tellDamage(log))
	return &stores{keys: opt.keys, signIn: opt.keys.ForAuth(opt.autosign), sessions: keys.NewSessions(dir, opt.session),
		jobs: jobs, cache: banks,
		presence: &presence.Finder{Cache: banks, Port: opt.publishPort, RemotePort: opt.remotePort}}, nil
}

func (s *stores) close() error {
	s.signIn.Close()
	s.sessions.Close()
	return s.jobs.Close()
}

// tellDamage says which file is damaged, where it was put, and what is lost.
func tellDamage(log *slog.Logger) func(setaside.Damage) {
	return func(d setaside.Damage) { log.Error(setaside.Text, d.Attrs()...) }
}

// localCache is the value of master_job_cache that asks for Salt's own layout of files.
const localCache = "local_cache"

// openJobs opens the job cache. Unlike Salt: one embedded file, unless master_job_cache stands in the
// configuration with Salt's default as its value; a returner gets a copy.
func openJobs(opt jobstore.Options, name string, log *slog.Logger) (jobCache, error) {
	opt.Damaged = tellDamage(log)
	switch name {
	case localCache:
		return jobstore.OpenLocalCache(opt)
	}
	store, err := jobstore.Open(opt)
	if err != nil {
		return nil, err
	}
	if name != "" {
		return &copiedJobs{Store: store}, nil
	}
	return store, nil
}
