package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"brine/actors/master/returning"
	"brine/modules/fleet/jobstore"
	"brine/modules/returners"
	"brine/modules/returners/jobcache"
	"brine/modules/returners/queue"
	"brine/modules/runners"
	"brine/wire/payload"
)

// jobCopyOptions are what the configuration says of job caches that are returners.
type jobCopyOptions struct {
	master   string // master_job_cache; "": the store is all there is
	ext      string // ext_job_cache, to which minions write their returns themselves; "": none
	returns  bool   // they are stored (job_cache, and no ext_job_cache)
	endTimes bool
	dir      string
	maxBytes int64
	maxAge   time.Duration
	mask     func(text string) string
}

// jobCopies hands jobs to returners that are job caches. brine's own store has them as well: it is what answers a
// minion, what waits while a returner is away comes from there, and what brine why and brine trace read. Any number of
// goroutines may use it.
type jobCopies struct {
	opt   jobCopyOptions
	calls *returnerCalls
	part  *returning.Part
	log   *slog.Logger
}

// nameJobCache is the name of the actor.
const nameJobCache = "JobCache"

// Bounds of the calls of job caches.
const (
	mostJobs       = 256             // records of jobs in one go
	loadPatience   = 2 * time.Second // of a publication for its load
	copiesPatience = 3 * time.Second // of a reader for what is on its way
	cleanPatience  = 10 * time.Minute
)

// newJobCopies makes the part; nil where no returner is a job cache. A returner that lacks what a job cache needs keeps
// the master from starting. Unlike Salt, where every job fails then.
func newJobCopies(opt jobCopyOptions, calls *returnerCalls, fire func(string, *payload.Map), calm func() bool,
	log *slog.Logger) (*jobCopies, error) {
	var names, missing []string
	for _, name := range []string{opt.master, opt.ext} {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
			missing = append(missing, calls.cache(name).Missing(name == opt.master)...)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("master_job_cache, ext_job_cache: there is no function %s", strings.Join(missing, ", "))
	}
	if opt.ext != "" {
		if unread := calls.cache(opt.ext).Unreadable(); len(unread) > 0 {
			log.Warn("ext_job_cache: salt-run jobs.* cannot read from this returner", "returner", opt.ext, "missing",
				strings.Join(unread, ", "))
		}
	}
	j := &jobCopies{opt: opt, calls: calls, log: log}
	var err error
	j.part, err = returning.New(returning.Options{Name: nameJobCache, What: "jobs", Most: mostJobs, Hand: j.hand,
		Hopeless: returners.Hopeless, Queue: queue.Options{Dir: opt.dir, Readers: names, MaxBytes: opt.maxBytes,
			MaxAge: opt.maxAge}, Mask: opt.mask, Fire: fire, Calm: calm, Log: log})
	return j, err
}

// cache is a returner as a job cache.
func (r *returnerCalls) cache(name string) jobcache.Cache {
	return jobcache.Cache{Name: name, Registry: r.registry, Env: r.env}
}

// hand writes records to one job cache.
func (j *jobCopies) hand(ctx context.Context, name string, items []queue.Item) (taken int, err error) {
	for _, it := range items {
		r, err := jobcache.Unpack(it.Body)
		if err == nil && slices.Contains(r.To, name) {
			err = j.calls.cache(name).Replay(ctx, r)
		}
		if err != nil {
			return taken, err
		}
		taken++
	}
	return taken, nil
}

// published hands the load of a new job on, before the job is on its way. Salt's own tools look for it as soon as they
// have their answer: for these it is there by then, unless the returner is away. Source: salt/master.py,
// ClearFuncs._prep_pub.
func (j *jobCopies) published(one jobstore.Load, tools bool) {
	if j == nil {
		return
	}
	var to []string
	for _, name := range []string{j.opt.master, j.opt.ext} {
		if name == "" || slices.Contains(to, name) || name == j.opt.master && tools && j.saveNow(name, one) {
			continue
		}
		to = append(to, name)
	}
	if len(to) == 0 {
		return
	}
	if err := j.append(false, jobcache.Record{To: to, JID: one.JID, Load: one.Load, Minions: append([]string{},
		one.Minions...)}); err != nil {
		j.log.Error("the load of a job cannot be handed to its job cache", "jid", one.JID, "returner",
			strings.Join(to, ","), "err", err)
	}
}

// saveNow tells whether a returner that is well has taken a load.
func (j *jobCopies) saveNow(name string, one jobstore.Load) bool {
	if !j.part.Healthy(name) {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), loadPatience)
	defer cancel()
	return j.calls.cache(name).Replay(ctx, jobcache.Record{JID: one.JID, Load: one.Load, Minions: append([]string{},
		one.Minions...)}) == nil
}

func (j *jobCopies) append(sync bool, records ...jobcache.Record) error {
	bodies := make([][]byte, len(records))
	for i, r := range records {
		var err error
		if bodies[i], err = r.Pack(); err != nil {
			return err
		}
	}
	if len(bodies) == 0 {
		return nil
	}
	return j.part.Append(sync, bodies...)
}

// handed waits until the master job cache has what is stored by now, but not for long, nor for one that is away.
func (j *jobCopies) handed(ctx context.Context) {
	if j == nil || j.opt.master == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, copiesPatience)
	defer cancel()
	if err := j.part.Handed(ctx, j.opt.master); err != nil {
		j.log.Debug("the job cache is behind", "err", err)
	}
}

// copiedJobs is brine's own store of jobs, from which a returner gets a copy of what is stored.
type copiedJobs struct {
	*jobstore.Store
	to atomic.Pointer[jobCopies] // nil: there is none yet
}

// Commit stores loads and returns, and puts them on their way to the returner. They count as stored when both are on
// the disk.
func (c *copiedJobs) Commit(loads []jobstore.Load, returns []jobstore.Return) (jobstore.Result, error) {
	to := c.to.Load()
	if to == nil {
		return c.Store.Commit(loads, returns)
	}
	unknown := c.unknown(loads, returns)
	res, err := c.Store.Commit(loads, returns)
	if err != nil {
		return res, err
	}
	if err := to.append(len(returns) > 0, to.records(loads, returns, res, unknown)...); err != nil {
		// the returns come again, as repeated ones
		return jobstore.Result{}, fmt.Errorf("copies for the job cache: %w", err)
	}
	return res, nil
}

// unknown are the jobs of returns that nobody has announced: their return stands for their load.
func (c *copiedJobs) unknown(loads []jobstore.Load, returns []jobstore.Return) map[string]bool {
	out := map[string]bool{}
	for _, r := range returns {
		if out[r.JID] || slices.ContainsFunc(loads, func(l jobstore.Load) bool {
			return l.JID == r.JID && l.Facts == nil
		}) {
			continue
		}
		if load, err := c.Load(r.JID); err == nil && load == nil {
			out[r.JID] = true
		}
	}
	return out
}

// records are what the master job cache gets of a commit. A return that came again is handed on again: perhaps its copy
// was not kept the first time.
func (j *jobCopies) records(loads []jobstore.Load, returns []jobstore.Return, res jobstore.Result,
	unknown map[string]bool) (out []jobcache.Record) {
	to := []string{j.opt.master}
	for _, l := range loads {
		if l.Facts == nil && !l.Announced && (l.Load != nil || len(l.Minions) > 0) {
			out = append(out, jobcache.Record{To: to, JID: l.JID, Load: l.Load, Minions: append([]string{},
				l.Minions...), Syndic: l.Syndic})
		}
	}
	if !j.opt.returns {
		return out
	}
	leave := map[int]bool{}
	for _, f := range res.Failed {
		leave[f.Index] = true
	}
	for _, x := range res.Extras {
		leave[x.Index] = x.Why != jobstore.Repeated
	}
	for i, r := range returns {
		if leave[i] || r.Load == nil {
			continue
		}
		if unknown[r.JID] {
			delete(unknown, r.JID)
			out = append(out, jobcache.Record{To: to, JID: r.JID, Load: r.Load})
		}
		one := jobcache.Record{To: to, JID: r.JID, Return: r.Load}
		if j.opt.endTimes {
			one.End = jobstore.EndTime(time.Now())
		}
		out = append(out, one)
	}
	return out
}

// Clean removes old jobs from the store, and lets the returner remove its own.
func (c *copiedJobs) Clean(now time.Time) (int, error) {
	n, err := c.Store.Clean(now)
	if to := c.to.Load(); to != nil {
		ctx, cancel := context.WithTimeout(context.Background(), cleanPatience)
		defer cancel()
		if e := to.calls.cache(to.opt.master).Clean(ctx); e != nil {
			err = errors.Join(err, fmt.Errorf("clean %s: %s", to.opt.master, to.opt.mask(e.Error())))
		}
	}
	return n, err
}

// jobCache reads a job cache for a runner function, with what the bus has told of.
func (f *ownFunctions) jobCache(name string) runners.JobCache {
	return settledCache{f.calls.cache(name), f.jobs}
}

// settledCache is a returner with the jobs that are stored by now.
type settledCache struct {
	jobcache.Cache
	jobs *jobs
}

func (s settledCache) settle(ctx context.Context) {
	settledJobs{s.jobs}.settle()
	s.jobs.copies.handed(ctx)
}

// GetLoad is that of the returner.
func (s settledCache) GetLoad(ctx context.Context, jid string) (*payload.Map, error) {
	s.settle(ctx)
	return s.Cache.GetLoad(ctx, jid)
}

// GetJID is that of the returner.
func (s settledCache) GetJID(ctx context.Context, jid string) (*payload.Map, error) {
	s.settle(ctx)
	return s.Cache.GetJID(ctx, jid)
}

// GetJIDs is that of the returner.
func (s settledCache) GetJIDs(ctx context.Context) (*payload.Map, error) {
	s.settle(ctx)
	return s.Cache.GetJIDs(ctx)
}
