package jobstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/wire/disk/packedfile"
	"brine/wire/disk/setaside"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// LocalCache is the job cache in Salt's own layout, for master_job_cache: local_cache. Its methods mean what those of
// Store mean. Each return is a synced file of its own, so it takes many times as long as the Store does.
type LocalCache struct {
	opt    Options
	layout layout
	swept  time.Time // when the cap was last looked at
}

// OpenLocalCache makes the directory of jobs when there is none.
func OpenLocalCache(opt Options) (*LocalCache, error) {
	l, err := newLayout(opt.CacheDir, opt.HashType, opt.Shared)
	if err != nil {
		return nil, err
	}
	if err := l.makeRoot(); err != nil {
		return nil, fmt.Errorf("open job cache: %w", err)
	}
	return &LocalCache{opt: opt, layout: l}, nil
}

// Close does nothing: every file is closed already.
func (c *LocalCache) Close() error { return nil }

// Announce writes the files of a job.
func (c *LocalCache) Announce(l Load) error {
	if !validJID(l.JID) {
		return fmt.Errorf("announce job %q: the job id cannot be stored", l.JID)
	}
	if err := c.write(l); err != nil {
		return fmt.Errorf("announce job %s: %w", l.JID, err)
	}
	return nil
}

// write writes the files of a job, and whose it is.
func (c *LocalCache) write(l Load) error {
	fresh := !c.layout.has(l.JID)
	if err := c.layout.writeLoad(l, true); err != nil {
		return err
	}
	return c.layout.setOwner(l, fresh)
}

// Note is Announce: the files are the store.
func (c *LocalCache) Note(l Load) error { return c.Announce(l) }

// SaveLoad stores one load.
func (c *LocalCache) SaveLoad(l Load) error { return c.Announce(l) }

// SaveMinions adds minions to a job, those of a syndic under its name.
func (c *LocalCache) SaveMinions(jid string, minions []string, syndic string) error {
	return c.Announce(Load{JID: jid, Minions: minions, Syndic: syndic})
}

// StoreReturns stores a batch of returns.
func (c *LocalCache) StoreReturns(returns []Return) ([]Extra, error) {
	res, err := c.Commit(nil, returns)
	return res.Extras, errors.Join(err, res.Err())
}

// syncWriters is how many returns are written at the same time: waiting for the disk is most of the work.
const syncWriters = 16

// Commit stores loads and returns, each for itself. On an error, which means that none could be stored, some may be in
// part; to store them again does no harm.
func (c *LocalCache) Commit(loads []Load, returns []Return) (Result, error) {
	var res Result
	for i, l := range loads {
		if validJID(l.JID) && !l.Announced && l.Facts == nil {
			if err := c.Announce(l); err != nil {
				res.Loads = append(res.Loads, Failure{i, err})
			}
		}
	}
	b := &localBatch{cache: c, why: make([]Why, len(returns)), errs: make([]error, len(returns))}
	again := b.first(returns)
	for _, i := range again { // a minion that answered twice within this batch
		b.why[i], b.errs[i] = c.store(returns[i])
	}
	for i, w := range b.why {
		switch {
		case b.errs[i] != nil:
			res.Failed = append(res.Failed, Failure{i, b.errs[i]})
			b.why[i] = failed
		case w != 0:
			res.Extras = append(res.Extras, Extra{i, w})
		}
	}
	if n := len(res.Failed) + len(res.Loads); n > 0 && n == len(loads)+len(returns) {
		return Result{}, res.Err()
	}
	if err := c.keepFacts(loads, returns, b.why); err != nil {
		return Result{}, err
	}
	return res, nil
}

// failed is in place of a Why for a return that could not be stored.
const failed Why = -1

// localBatch collects what becomes of the returns of one commit, by index.
type localBatch struct {
	cache *LocalCache
	why   []Why
	errs  []error
}

// first stores the first return of each minion to each job, several at a time, and lists the others.
func (b *localBatch) first(returns []Return) (again []int) {
	seen := map[[2]string]bool{}
	free := make(chan struct{}, syncWriters)
	var wg sync.WaitGroup
	for i, r := range returns {
		key := [2]string{r.JID, r.ID}
		if seen[key] {
			again = append(again, i)
			continue
		}
		seen[key] = true
		free <- struct{}{}
		wg.Go(func() {
			b.why[i], b.errs[i] = b.cache.store(r)
			<-free
		})
	}
	wg.Wait()
	return again
}

// store writes one return. The file return.p comes last: it tells that the minion has answered.
func (c *LocalCache) store(r Return) (Why, error) {
	if !validJID(r.JID) || !validID(r.ID) {
		return Malformed, nil
	}
	dir := c.layout.dir(r.JID)
	if _, err := os.Lstat(filepath.Join(dir, fileNoCache)); err == nil {
		return Uncached, nil
	}
	if !c.layout.has(r.JID) {
		if err := c.write(Load{JID: r.JID, Load: loadOfReturn(r.Load), By: r.By}); err != nil {
			return 0, fmt.Errorf("job %s: %w", r.JID, err)
		}
	}
	sub := filepath.Join(dir, r.ID)
	rec := record(r.Load)
	switch old, err := c.stored(sub); {
	case errors.Is(err, packedfile.ErrDamaged):
		if err := c.setAside(filepath.Join(sub, fileReturn), err); err != nil {
			return 0, fmt.Errorf("return of %s for job %s: %w", r.ID, r.JID, err)
		}
	case err != nil:
		return 0, fmt.Errorf("return of %s for job %s: %w", r.ID, r.JID, err)
	case old != nil && payload.Equal(old, rec):
		return Repeated, nil
	case old != nil:
		return Differing, nil
	}
	if err := c.layout.writeReturn(sub, rec, true); err != nil {
		return 0, fmt.Errorf("return of %s for job %s: %w", r.ID, r.JID, err)
	}
	if c.opt.EndTimes {
		text := []byte(EndTime(c.opt.now()))
		if err := wholefile.Write(filepath.Join(dir, fileEndTime), text, wholefile.Options{Mode: c.layout.fileMode(),
			Umask: true}); err != nil {
			return 0, fmt.Errorf("end time of job %s: %w", r.JID, err)
		}
	}
	return 0, nil
}

// writeReturn writes the files of one return into the directory of its minion, which is nobody else's to read: Salt's
// command line needs loads.
func (l layout) writeReturn(sub string, rec *payload.Map, durable bool) error {
	if err := os.MkdirAll(filepath.Dir(sub), l.dirMode()); err != nil {
		return err
	}
	if err := os.Mkdir(sub, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	how := wholefile.Options{Sync: durable}
	if out, ok := rec.Get(payload.FieldOut); ok {
		if err := packedfile.Write(filepath.Join(sub, fileOut), out, how); err != nil {
			return err
		}
	}
	ret := rec.Clone()
	ret.Delete(payload.FieldOut)
	return packedfile.Write(filepath.Join(sub, fileReturn), ret, how)
}

// setAside puts a damaged file away, in whose place another is to come.
func (c *LocalCache) setAside(file string, why error) error {
	kept, err := setaside.Move(file, c.opt.now())
	c.opt.tell(setaside.Damage{Path: file, Kept: kept, Err: errors.Join(why, err)})
	return err
}

// stored reads the return in the directory of a minion; nil when there is none.
func (c *LocalCache) stored(sub string) (*payload.Map, error) {
	v, err := packedfile.Read(filepath.Join(sub, fileReturn))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ret, ok := v.(*payload.Map)
	if !ok || !payload.NewReturn(ret).HasValue() {
		ret = payload.M("return", v) // very old releases stored the bare value
	}
	if out, err := packedfile.Read(filepath.Join(sub, fileOut)); err == nil {
		ret.Set(payload.FieldOut, out)
	}
	return ret, nil
}

// GetLoad returns the load of a job with the key Minions; nil when the job, or its load, is not known.
func (c *LocalCache) GetLoad(jid string) (*payload.Map, error) {
	dir := c.layout.dir(jid)
	load, err := c.layout.load(dir)
	if err != nil || load == nil {
		return nil, err
	}
	return withMinions(load, c.layout.minions(dir)), nil
}

// EndTime is the time of the last return of a job; "" when it is not known.
func (c *LocalCache) EndTime(jid string) string {
	b, err := os.ReadFile(filepath.Join(c.layout.dir(jid), fileEndTime))
	if err != nil {
		return ""
	}
	return strings.Trim(string(b), "\n")
}

// GetJID returns what the minions of a job have answered. A damaged file is an error; the map then holds the
// others.
func (c *LocalCache) GetJID(jid string) (*payload.Map, error) {
	out := payload.NewMap(0)
	dir := c.layout.dir(jid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return out, ignoreMissing(err)
	}
	var errs []error
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		ret, err := c.stored(filepath.Join(dir, e.Name()))
		if err != nil {
			errs = append(errs, err)
		} else if ret != nil {
			out.Set(e.Name(), ret)
		}
	}
	return out, errors.Join(errs...)
}

// Returned says whether the return of a minion is stored.
func (c *LocalCache) Returned(jid, id string) (bool, error) {
	if !validID(id) {
		return false, nil
	}
	_, err := os.Lstat(filepath.Join(c.layout.dir(jid), id, fileReturn))
	return err == nil, ignoreMissing(err)
}

// GetJIDs maps job ids to loads, in the order of the ids. With Count the latest ids are taken. A job whose load
// is damaged is left out.
func (c *LocalCache) GetJIDs(f Filter) (*payload.Map, error) {
	all := map[string]*payload.Map{}
	var jids []string
	err := c.layout.jobs(func(dir string) (bool, error) {
		load, err := c.layout.load(dir)
		if jid := payload.NewPublishRequest(load).JID(); err == nil && jid != "" {
			all[jid] = load
			jids = append(jids, jid)
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	slices.Sort(jids)
	k := keep{Filter: f, out: payload.NewMap(0)}
	for _, jid := range slices.Backward(jids) {
		if !k.add(jid, all[jid]) {
			break
		}
	}
	return k.sorted(), nil
}

// Load, Returns and Loads are GetLoad, GetJID and GetJIDs by the names under which runners ask for them.
func (c *LocalCache) Load(jid string) (*payload.Map, error)    { return c.GetLoad(jid) }
func (c *LocalCache) Returns(jid string) (*payload.Map, error) { return c.GetJID(jid) }
func (c *LocalCache) Loads() (*payload.Map, error)             { return c.GetJIDs(Filter{}) }

// Clean removes the jobs that are older than Keep and, once an hour, the oldest ones while all files together
// exceed the cap.
func (c *LocalCache) Clean(now time.Time) (removed int, err error) {
	if c.opt.Keep > 0 {
		removed, err = c.layout.clean(now, c.opt.Keep, func(string) bool { return true })
		if err != nil {
			return removed, fmt.Errorf("clean jobs: %w", err)
		}
	}
	if c.opt.MaxBytes == 0 || now.Sub(c.swept) < sweepEvery {
		return removed, nil
	}
	c.swept = now
	jobs, err := c.layout.oldest()
	own, jobs, total := shrinkOwn(jobs, c.opt.MaxBytes)
	for _, j := range own {
		removed++
		err = errors.Join(err, c.layout.remove(j.dir))
	}
	for i := 0; i < len(jobs)-1 && total > c.opt.MaxBytes && err == nil; i++ {
		total -= jobs[i].size
		removed++
		err = c.layout.remove(jobs[i].dir)
	}
	if err != nil {
		return removed, fmt.Errorf("clean jobs: %w", err)
	}
	return removed, nil
}

// Compact does nothing: the files of jobs that are removed leave no room behind.
func (c *LocalCache) Compact(context.Context) (from, to int64, err error) { return 0, 0, nil }
