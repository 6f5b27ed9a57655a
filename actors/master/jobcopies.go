package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"brine/actors/master/returning"
	"brine/modules/fleet/jobstore"
	"brine/modules/returners"
	"brine/modules/returners/jobcache"
	"brine/modules/returners/queue"
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
	opt     jobCopyOptions
	machine *machine
	part    *returning.Part
	log     *slog.Logger
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
func newJobCopies(opt jobCopyOptions, machine *machine, fire func(string, *payload.Map), calm func() bool,
	log *slog.Logger) (*jobCopies, error) {
	var names, missing []string
	for _, name := range []string{opt.master, opt.ext} {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
			missing = append(missing, machine.jobCache(name).Missing(name == opt.master)...)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("master_job_cache, ext_job_cache: there is no function %s", strings.Join(missing, ", "))
	}
	if opt.ext != "" {
		if unread := machine.jobCache(opt.ext).Unreadable(); len(unread) > 0 {
			log.Warn("ext_job_cache: salt-run jobs.* cannot read from this returner", "returner", opt.ext, "missing",
				strings.Join(unread, ", "))
		}
	}
	j := &jobCopies{opt: opt, machine: machine, log: log}
	var err error
	j.part, err = returning.New(returning.Options{Name: nameJobCache, What: "jobs", Most: mostJobs, Hand: j.hand,
		Hopeless: returners.Hopeless, Queue: queue.Options{Dir: opt.dir, Readers: names, MaxBytes: opt.maxBytes,
			MaxAge: opt.maxAge}, Mask: opt.mask, Fire: fire, Calm: calm, Log: log})
	return j, err
}

// hand writes records to one job cache.
func (j *jobCopies) hand(ctx context.Context, name string, items []queue.Item) (taken int, err error) {
	for _, it := range items {
		r, err := jobcache.Unpack(it.Body)
		if err == nil && slices.Contains(r.To, name) {
			err = j.machine.jobCache(name).Replay(ctx, r)
		}
		if err != nil {
			return taken, err
		}
		taken++
	}
	return taken, nil
}

// Published hands the load of a new job on, before the job is on its way. Salt's own tools look for it as soon as they
// have their answer: for these it is there by then, unless the returner is away. Source: salt/master.py,
// ClearFuncs._prep_pub.
func (j *jobCopies) Published(one jobstore.Load, tools bool) {
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
	return j.machine.jobCache(name).Replay(ctx, jobcache.Record{JID: one.JID, Load: one.Load, Minions: append([]string{},
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
	to *jobCopies
}

// over is a store of jobs from which the master job cache gets a copy; the store itself where there is none.
func (j *jobCopies) over(store *jobstore.Store) (copied *copiedJobs, ok bool) {
	if j == nil || j.opt.master == "" {
		return nil, false
	}
	return &copiedJobs{store, j}, true
}

// Commit stores loads and returns, and puts them on their way to the returner. They count as stored when both are on
// the disk.
func (c *copiedJobs) Commit(loads []jobstore.Load, returns []jobstore.Return) (jobstore.Result, error) {
	unknown := c.unknown(loads, returns)
	res, err := c.Store.Commit(loads, returns)
	if err != nil {
		return res, err
	}
	if err := c.to.append(len(returns) > 0, c.to.records(loads, returns, res, unknown)...); err != nil {
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
	ctx, cancel := context.WithTimeout(context.Background(), cleanPatience)
	defer cancel()
	if e := c.to.machine.jobCache(c.to.opt.master).Clean(ctx); e != nil {
		err = errors.Join(err, fmt.Errorf("clean %s: %s", c.to.opt.master, c.to.opt.mask(e.Error())))
	}
	return n, err
}
