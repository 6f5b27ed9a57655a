package saltrun

import (
	"context"
	"fmt"

	"brine/cmd/masterlink"
	"brine/cmd/session"
	"brine/modules/fleet/jobstore"
	"brine/modules/loader"
	"brine/modules/returners/jobcache"
	"brine/modules/runners"
	"brine/wire/control"
	"brine/wire/payload"
)

// jobCache is the master's job cache, as tools use it.
type jobCache interface {
	runners.JobStore
	runners.EndTimes
	// keep stores a job of one minion with its return.
	keep(ctx context.Context, jid, id string, load *payload.Map) error
}

// newJobCache asks a running brine master, which has its own job store. Otherwise it reads the files of Salt's
// job cache.
func newJobCache(s *session.Session) jobCache {
	if d := masterlink.Daemon(s); d != nil {
		return askedJobs{d}
	}
	return filedJobs{s}
}

// askedJobs is the job cache of a running brine master.
type askedJobs struct{ master *control.Daemon }

// askJobs asks a master about its jobs.
func askJobs[A any, Q control.Question[A]](j askedJobs, q Q) (A, error) {
	ctx, cancel := context.WithTimeout(context.Background(), control.JobPatience)
	defer cancel()
	return control.Ask(ctx, j.master, q)
}

func (j askedJobs) Load(jid string) (*payload.Map, error) {
	return askJobs(j, control.GetJobLoad{JID: jid})
}

func (j askedJobs) Returns(jid string) (*payload.Map, error) {
	return askJobs(j, control.GetJobReturns{JID: jid})
}

func (j askedJobs) Loads() (*payload.Map, error) { return askJobs(j, control.GetJobLoads{}) }

func (j askedJobs) EndTime(jid string) string {
	text, err := askJobs(j, control.GetJobEnd{JID: jid})
	if err != nil {
		return ""
	}
	return text
}

// runKept limits the size of one run that a running master stores, because it takes at most 16 MiB in one
// message.
const runKept = 8 << 20

// tooLargeToKeep says that the job cache lacks the result of a run. It still records the run itself.
type tooLargeToKeep struct{ size int }

func (e *tooLargeToKeep) Error() string {
	return fmt.Sprintf("What this run returned is not kept in the job cache: it has %d bytes, and %d are kept at most",
		e.size, runKept)
}

func (j askedJobs) keep(_ context.Context, jid, id string, load *payload.Map) error {
	packed, err := payload.MarshalBin(load)
	if err != nil {
		return fmt.Errorf("pack the run %s: %w", jid, err)
	}
	if len(packed) > runKept {
		large := &tooLargeToKeep{len(packed)}
		short := load.Clone()
		short.Set("return", load.Map("return").Clone().Set("return", large.Error()))
		if _, err := askJobs(j, control.KeepJob{JID: jid, ID: id, Load: short}); err != nil {
			return err
		}
		return large
	}
	_, err = askJobs(j, control.KeepJob{JID: jid, ID: id, Load: load})
	return err
}

// filedJobs reads the files of a Salt master's job cache.
type filedJobs struct{ *session.Session }

func (j filedJobs) files() (*jobstore.LocalCache, error) {
	return jobstore.AttachLocalCache(jobstore.Options{CacheDir: j.Master.CacheDir, Shared: j.Master.Shared(),
		HashType: j.Master.HashType, EndTimes: j.Master.JobCacheStoreEndtime})
}

func (j filedJobs) Load(jid string) (*payload.Map, error) {
	files, err := j.files()
	if err != nil {
		return nil, err
	}
	return files.Load(jid)
}

func (j filedJobs) Returns(jid string) (*payload.Map, error) {
	files, err := j.files()
	if err != nil {
		return nil, err
	}
	return files.Returns(jid)
}

func (j filedJobs) Loads() (*payload.Map, error) {
	files, err := j.files()
	if err != nil {
		return nil, err
	}
	return files.Loads()
}

func (j filedJobs) EndTime(jid string) string {
	files, err := j.files()
	if err != nil {
		return ""
	}
	return files.EndTime(jid)
}

func (j filedJobs) keep(_ context.Context, jid, id string, load *payload.Map) error {
	files, err := j.files()
	if err != nil {
		return err
	}
	_, err = files.Commit([]jobstore.Load{{JID: jid, Load: load, Minions: []string{}}},
		[]jobstore.Return{{JID: jid, ID: id, Load: load}})
	return err
}

// jobCaches gives the returners of this machine as job caches. A running brine master first gets time to write
// to them the events that are on the bus.
func jobCaches(s *session.Session, jobs jobCache, env *loader.Env) func(name string) runners.JobCache {
	kept := MachineOf(s.Master.ID, s.Master.Raw).Returners()
	return func(name string) runners.JobCache {
		return settledCache{jobcache.Cache{Name: name, Registry: kept, Env: env}, jobs}
	}
}

// settledCache is a returner that a master writes to.
type settledCache struct {
	jobcache.Cache
	jobs jobCache
}

// settle waits until the master has written, but does not wait for a returner that cannot be reached.
func (c settledCache) settle() {
	if asked, ok := c.jobs.(askedJobs); ok {
		asked.EndTime("")
	}
}

// GetLoad waits for the master, then asks the returner.
func (c settledCache) GetLoad(ctx context.Context, jid string) (*payload.Map, error) {
	c.settle()
	return c.Cache.GetLoad(ctx, jid)
}

// GetJIDs waits for the master, then asks the returner.
func (c settledCache) GetJIDs(ctx context.Context) (*payload.Map, error) {
	c.settle()
	return c.Cache.GetJIDs(ctx)
}
