// Package copies hands jobs and events to returners (master_job_cache, ext_job_cache, event_return). Jobs and the part
// of NewEvents own the queues on disk in which records wait for a returner. They ask package machine to call it.
package copies

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"brine/actors/master/machine"
	"brine/actors/master/returning"
	"brine/modules/fleet/jobstore"
	"brine/modules/returners"
	"brine/modules/returners/jobcache"
	"brine/modules/returners/queue"
	"brine/wire/payload"
)

// JobOptions are what the configuration says of job caches that are returners.
type JobOptions struct {
	Master   string // master_job_cache; "": the store is all there is
	Ext      string // ext_job_cache, to which minions write their returns themselves; "": none
	Returns  bool   // they are stored (job_cache, and no ext_job_cache)
	EndTimes bool
	Dir      string
	MaxBytes int64
	MaxAge   time.Duration
	Mask     func(text string) string
}

// Jobs hands jobs to returners that are job caches. brine's own store has them as well: it is what answers a
// minion, what waits while a returner is away comes from there, and what brine why and brine trace read. Any number of
// goroutines may use it.
type Jobs struct {
	opt     JobOptions
	machine *machine.Machine
	Part    *returning.Part
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

// NewJobs makes the part; nil where no returner is a job cache. A returner that lacks what a job cache needs keeps
// the master from starting. Unlike Salt, where every job fails then.
func NewJobs(opt JobOptions, machine *machine.Machine, fire func(string, *payload.Map), calm func() bool,
	log *slog.Logger) (*Jobs, error) {
	var names, missing []string
	for _, name := range []string{opt.Master, opt.Ext} {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
			missing = append(missing, machine.JobCache(name).Missing(name == opt.Master)...)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("master_job_cache, ext_job_cache: there is no function %s", strings.Join(missing, ", "))
	}
	if opt.Ext != "" {
		if unread := machine.JobCache(opt.Ext).Unreadable(); len(unread) > 0 {
			log.Warn("ext_job_cache: salt-run jobs.* cannot read from this returner", "returner", opt.Ext, "missing",
				strings.Join(unread, ", "))
		}
	}
	j := &Jobs{opt: opt, machine: machine, log: log}
	var err error
	j.Part, err = returning.New(returning.Options{Name: nameJobCache, What: "jobs", Most: mostJobs, Hand: j.hand,
		Hopeless: returners.Hopeless, Queue: queue.Options{Dir: opt.Dir, Readers: names, MaxBytes: opt.MaxBytes,
			MaxAge: opt.MaxAge}, Mask: opt.Mask, Fire: fire, Calm: calm, Log: log})
	return j, err
}

// hand writes records to one job cache.
func (j *Jobs) hand(ctx context.Context, name string, items []queue.Item) (taken int, err error) {
	for _, it := range items {
		r, err := jobcache.Unpack(it.Body)
		if err == nil && slices.Contains(r.To, name) {
			err = j.machine.JobCache(name).Replay(ctx, r)
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
func (j *Jobs) Published(one jobstore.Load, tools bool) {
	if j == nil {
		return
	}
	var to []string
	for _, name := range []string{j.opt.Master, j.opt.Ext} {
		if name == "" || slices.Contains(to, name) || name == j.opt.Master && tools && j.saveNow(name, one) {
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
func (j *Jobs) saveNow(name string, one jobstore.Load) bool {
	if !j.Part.Healthy(name) {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), loadPatience)
	defer cancel()
	return j.machine.JobCache(name).Replay(ctx, jobcache.Record{JID: one.JID, Load: one.Load, Minions: append([]string{},
		one.Minions...)}) == nil
}

func (j *Jobs) append(sync bool, records ...jobcache.Record) error {
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
	return j.Part.Append(sync, bodies...)
}

// Handed waits until the master job cache has what is stored by now, but not for long, nor for one that is away.
func (j *Jobs) Handed(ctx context.Context) {
	if j == nil || j.opt.Master == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, copiesPatience)
	defer cancel()
	if err := j.Part.Handed(ctx, j.opt.Master); err != nil {
		j.log.Debug("the job cache is behind", "err", err)
	}
}

// Store is brine's own store of jobs, from which a returner gets a copy of what is stored.
type Store struct {
	*jobstore.Store
	to *Jobs
}

// Over is a store of jobs from which the master job cache gets a copy; the store itself where there is none.
func (j *Jobs) Over(store *jobstore.Store) (copied *Store, ok bool) {
	if j == nil || j.opt.Master == "" {
		return nil, false
	}
	return &Store{store, j}, true
}

// Commit stores loads and returns, and puts them on their way to the returner. They count as stored when both are on
// the disk.
func (c *Store) Commit(loads []jobstore.Load, returns []jobstore.Return) (jobstore.Result, error) {
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
func (c *Store) unknown(loads []jobstore.Load, returns []jobstore.Return) map[string]bool {
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
func (j *Jobs) records(loads []jobstore.Load, returns []jobstore.Return, res jobstore.Result,
	unknown map[string]bool) (out []jobcache.Record) {
	to := []string{j.opt.Master}
	for _, l := range loads {
		if l.Facts == nil && !l.Announced && (l.Load != nil || len(l.Minions) > 0) {
			out = append(out, jobcache.Record{To: to, JID: l.JID, Load: l.Load, Minions: append([]string{},
				l.Minions...), Syndic: l.Syndic})
		}
	}
	if !j.opt.Returns {
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
		if j.opt.EndTimes {
			one.End = jobstore.EndTime(time.Now())
		}
		out = append(out, one)
	}
	return out
}

// Clean removes old jobs from the store, and lets the returner remove its own.
func (c *Store) Clean(now time.Time) (int, error) {
	n, err := c.Store.Clean(now)
	ctx, cancel := context.WithTimeout(context.Background(), cleanPatience)
	defer cancel()
	if e := c.to.machine.JobCache(c.to.opt.Master).Clean(ctx); e != nil {
		err = errors.Join(err, fmt.Errorf("clean %s: %s", c.to.opt.Master, c.to.opt.Mask(e.Error())))
	}
	return n, err
}
