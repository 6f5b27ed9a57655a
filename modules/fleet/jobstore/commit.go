package jobstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"brine/wire/disk/packedfile"
	"brine/wire/payload"

	"go.etcd.io/bbolt"
)

// Announce writes the files in which Salt's own salt command looks for a job. That command looks as soon as it
// has the answer to its publish request, so this must be done before that answer is sent. Commit does it for
// loads that are not marked Announced. What was announced outlives the process, not the power of the machine: a job
// that never came to a Commit is read from its files, and the first return takes it from there into the store.
func (s *Store) Announce(l Load) error {
	if !validJID(l.JID) {
		return fmt.Errorf("announce job %q: the job id cannot be stored", l.JID)
	}
	if err := s.layout.writeLoad(l, false); err != nil {
		return fmt.Errorf("announce job %s: %w", l.JID, err)
	}
	return nil
}

// Commit stores loads and returns in one synced transaction: when it returns nil, they outlive this process and the
// machine's power, but for those in Failed; on an error none was stored. What cannot be stored because of what it holds
// fails alone: an error means the file or its disk. A return whose job nobody announced makes the job. Of several
// returns of a minion the first stays.
func (s *Store) Commit(loads []Load, returns []Return) (Result, error) {
	if why := s.suspect.Swap(nil); why != nil {
		s.repair(*why)
	}
	res, err := s.commit(loads, returns)
	if errors.Is(err, packedfile.ErrDamaged) && s.repair(err) {
		res, err = s.commit(loads, returns)
	}
	s.suspects(errors.Join(res.Err(), err))
	if n := len(loads) + len(returns); !errors.Is(err, packedfile.ErrDamaged) || n < 2 {
		return res, err
	}
	// Something in the file stops the transaction: what has nothing to do with it is stored all the same.
	nl, nr := len(loads)/2, len(returns)/2
	if len(returns) > 0 { // loads before the returns that belong to them
		nl = len(loads)
	}
	first, errFirst := s.Commit(loads[:nl], returns[:nr])
	second, errSecond := s.Commit(loads[nl:], returns[nr:])
	first.add(nl, nr, errFirst, 0, 0)
	second.add(len(loads)-nl, len(returns)-nr, errSecond, nl, nr)
	return first.join(second), nil
}

func (s *Store) commit(loads []Load, returns []Return) (Result, error) {
	c := newBatch(returns)
	err := s.update(func(tx *bbolt.Tx) error {
		t := newTxn(tx, s.opt, s.layout)
		t.noted, t.changes = s.notes.get, s.changes
		return c.run(t, loads, returns)
	})
	if err != nil {
		return Result{}, fmt.Errorf("job store %s: write %d loads, %d returns: %w", s.file, len(loads), len(returns),
			err)
	}
	s.release(time.Now())
	c.res.Files = errors.Join(s.syncFiles(c.files, c.evicted), s.returnFiles(c.stored, returns), s.notes.stored(c.jids))
	return c.res, nil
}

// batch is what one transaction stores.
type batch struct {
	res           Result
	packed        []packed // returns, by index
	stored        []int    // indices of the returns that are new in the store
	files         []Load   // to be written for Salt's tools
	evicted, jids []string
}

// packed is the value of a return, or why there is none.
type packed struct {
	value []byte
	head  int // of its facts
	err   error
}

// newBatch packs returns, before there is a transaction that the failure of one of them could end.
func newBatch(returns []Return) *batch {
	c := &batch{packed: make([]packed, len(returns))}
	var buf []byte
	for i, r := range returns {
		p := &c.packed[i]
		buf = appendFacts(buf[:0], r.Facts)
		p.head = len(buf)
		if buf, p.err = payload.AppendBin(buf, record(r.Load)); p.err == nil {
			p.value = bytes.Clone(buf)
		}
	}
	return c
}

func (c *batch) run(t *txn, loads []Load, returns []Return) error {
	for i, l := range loads {
		if !validJID(l.JID) || l.Facts != nil {
			continue
		}
		if err := t.putLoad(l); err != nil {
			c.res.Loads = append(c.res.Loads, Failure{i, err})
			continue
		}
		c.jids = append(c.jids, l.JID)
		if !l.Announced {
			c.files = append(c.files, l)
		}
	}
	for i, r := range returns {
		made, why, err := t.putReturn(r, c.packed[i])
		if made != nil {
			c.files = append(c.files, *made)
		}
		switch {
		case err != nil:
			c.res.Failed = append(c.res.Failed, Failure{i, err})
			continue
		case why != 0:
			c.res.Extras = append(c.res.Extras, Extra{i, why})
		default:
			c.stored = append(c.stored, i)
		}
		c.jids = append(c.jids, r.JID)
	}
	if err := t.putFacts(loads); err != nil {
		return err
	}
	err := t.finish(t.opt.MaxBytes)
	c.evicted = t.removed
	return err
}

// add makes the result of a part of a batch one of the whole: where the part begins, and that all of it failed if it
// did.
func (r *Result) add(loads, returns int, err error, firstLoad, firstReturn int) {
	if err != nil {
		for i := range loads {
			r.Loads = append(r.Loads, Failure{i, err})
		}
		for i := range returns {
			r.Failed = append(r.Failed, Failure{i, err})
		}
	}
	for i := range r.Loads {
		r.Loads[i].Index += firstLoad
	}
	for i := range r.Failed {
		r.Failed[i].Index += firstReturn
	}
	for i := range r.Extras {
		r.Extras[i].Index += firstReturn
	}
}

func (r Result) join(o Result) Result {
	return Result{append(r.Extras, o.Extras...), append(r.Failed, o.Failed...), append(r.Loads, o.Loads...),
		errors.Join(r.Files, o.Files)}
}

// syncFiles writes the files of jobs that were not announced and removes those of jobs that had to go.
func (s *Store) syncFiles(loads []Load, evicted []string) error {
	var errs []error
	for _, jid := range evicted {
		if err := s.layout.remove(s.layout.dir(jid)); err != nil {
			errs = append(errs, fmt.Errorf("files of job %s: %w", jid, err))
		}
	}
	for _, l := range loads {
		if err := s.layout.writeLoad(l, false); err != nil {
			errs = append(errs, fmt.Errorf("files of job %s: %w", l.JID, err))
		}
	}
	return errors.Join(errs...)
}

// SaveLoad stores one load; see Commit.
func (s *Store) SaveLoad(l Load) error {
	res, err := s.Commit([]Load{l}, nil)
	return errors.Join(err, res.Err(), res.Files)
}

// SaveMinions adds minions to a job, those of a syndic under its name.
func (s *Store) SaveMinions(jid string, minions []string, syndic string) error {
	return s.SaveLoad(Load{JID: jid, Minions: minions, Syndic: syndic})
}

// StoreReturns stores a batch of returns; see Commit.
func (s *Store) StoreReturns(returns []Return) ([]Extra, error) {
	res, err := s.Commit(nil, returns)
	return res.Extras, errors.Join(err, res.Err())
}

// txn is a write transaction that counts the bytes it stores.
type txn struct {
	tx            *bbolt.Tx
	opt           Options
	layout        layout
	jobs, returns *bbolt.Bucket
	order         *bbolt.Bucket
	total         int64
	known         map[string]bool // jid → nocache, of jobs this transaction has met
	noted         func(jid string) (Load, bool)
	changes       *changes // nil: nobody wants to know
	removed       []string // jids of jobs that went because of the cap
}

// fillPercent packs pages tightly: keys are mostly appended, for a jid begins with the time.
const fillPercent = 0.9

func newTxn(tx *bbolt.Tx, opt Options, l layout) *txn {
	t := &txn{tx: tx, opt: opt, layout: l, total: totalBytes(tx), known: map[string]bool{},
		jobs: tx.Bucket(bucketJobs), returns: tx.Bucket(bucketReturns), order: tx.Bucket(bucketOrder)}
	for _, b := range []*bbolt.Bucket{t.jobs, t.returns, t.order} {
		b.FillPercent = fillPercent
	}
	return t
}

// put stores one key; old is what it held.
func (t *txn) put(b *bbolt.Bucket, key, value, old []byte) error {
	if old == nil {
		t.total += int64(len(key))
	}
	t.total += int64(len(value)) - int64(len(old))
	t.note(b, key)
	return b.Put(key, value)
}

// drop removes one key.
func (t *txn) drop(b *bbolt.Bucket, key []byte) error {
	t.note(b, key)
	return b.Delete(key)
}

// note tells a copy that is being made of a key that changes.
func (t *txn) note(b *bbolt.Bucket, key []byte) {
	if t.changes == nil {
		return
	}
	name := bucketReturns
	switch b {
	case t.jobs:
		name = bucketJobs
	case t.order:
		name = bucketOrder
	}
	t.changes.note(name, key)
}

// setTotal notes the new size.
func (t *txn) setTotal() error {
	if t.changes != nil {
		t.changes.note(bucketTotals, keyBytes)
	}
	return setTotalBytes(t.tx, t.total)
}

// putLoad stores or extends a job.
func (t *txn) putLoad(l Load) error {
	key := []byte(l.JID)
	old := t.jobs.Get(key)
	j := &job{created: t.opt.now()}
	if old != nil {
		known, err := unpackJob(old)
		if err != nil {
			return fmt.Errorf("job %s: %w", l.JID, err)
		}
		j = known
	}
	if l.Load != nil {
		j.load = l.Load
	}
	j.minions = union(j.minions, l.Minions)
	j.noCache = j.noCache || l.NoCache
	if err := t.putJob(l.JID, j, old); err != nil {
		return err
	}
	return t.setOwner(l, orderKey(binary.BigEndian.AppendUint64(nil, uint64(j.created.UnixNano())), l.JID), old == nil)
}

func (t *txn) putJob(jid string, j *job, old []byte) error {
	packed, err := j.pack()
	if err != nil {
		return fmt.Errorf("pack job %s: %w", jid, err)
	}
	t.known[jid] = j.noCache
	if err := t.put(t.jobs, []byte(jid), packed, old); err != nil {
		return fmt.Errorf("job %s: %w", jid, err)
	}
	if old != nil {
		return nil
	}
	return t.put(t.order, orderKey(packed, jid), []byte{}, nil)
}

// putReturn stores a return. made is the job that had to be made for it.
func (t *txn) putReturn(r Return, p packed) (made *Load, why Why, err error) {
	if !validJID(r.JID) || !validID(r.ID) {
		return nil, Malformed, nil
	}
	if p.err != nil {
		return nil, 0, fmt.Errorf("pack return of %s for job %s: %w", r.ID, r.JID, p.err)
	}
	noCache, met := t.known[r.JID]
	if !met {
		if old := t.jobs.Get([]byte(r.JID)); old == nil {
			l := t.unknown(r)
			if err := t.putLoad(l); err != nil {
				return nil, 0, err
			}
			if noCache = l.NoCache; !l.Announced {
				made = &l
			}
		} else {
			noCache = len(old) > 8 && old[8] == 1
			t.known[r.JID] = noCache
		}
	}
	if noCache {
		return made, Uncached, nil
	}
	key := returnKey(r.JID, r.ID)
	if old := t.returns.Get(key); old != nil {
		if _, old, err = splitFacts(old); err != nil {
			return made, 0, fmt.Errorf("return of %s for job %s: %w", r.ID, r.JID, err)
		}
		if bytes.Equal(old, p.value[p.head:]) {
			return made, Repeated, nil
		}
		return made, Differing, nil
	}
	if err := t.put(t.returns, key, p.value, nil); err != nil {
		return made, 0, fmt.Errorf("return of %s for job %s: %w", r.ID, r.JID, err)
	}
	if t.opt.EndTimes {
		err = t.setEndTime(r.JID)
	}
	return made, 0, err
}

// unknown is the load of a job that the store has not seen: as it was noted or announced, else made out of its first
// return.
func (t *txn) unknown(r Return) Load {
	if l, ok := t.noted(r.JID); ok {
		return l
	}
	dir := t.layout.dir(r.JID)
	load, err := t.layout.load(dir)
	if err != nil || load == nil {
		return Load{JID: r.JID, Load: loadOfReturn(r.Load), By: r.By}
	}
	_, err = os.Lstat(filepath.Join(dir, fileNoCache))
	return Load{JID: r.JID, Load: load, Minions: t.layout.minions(dir), NoCache: err == nil, Announced: true}
}

// setEndTime notes that a return has come just now.
func (t *txn) setEndTime(jid string) error {
	old := t.jobs.Get([]byte(jid))
	j, err := unpackJob(old)
	if err != nil {
		return fmt.Errorf("job %s: %w", jid, err)
	}
	j.endTime = EndTime(t.opt.now())
	return t.putJob(jid, j, old)
}

// finish removes the oldest jobs while the store is over its cap, and notes the new size.
func (t *txn) finish(maxBytes int64) error {
	if maxBytes > 0 && t.total > maxBytes {
		if err := t.shrinkOwn(maxBytes); err != nil {
			return err
		}
		if err := t.shrink(maxBytes - maxBytes/20); err != nil {
			return err
		}
	}
	return t.setTotal()
}

// shrink removes the oldest jobs until at most limit bytes are stored. The newest job stays.
func (t *txn) shrink(limit int64) error {
	for t.total > limit { // published jobs, and the jobs of minions that have not more than their share
		keys, before := t.oldest(cleanBatch), t.total
		for _, key := range keys {
			if t.total <= limit {
				return nil
			}
			if err := t.removeJob(key); err != nil {
				return err
			}
			t.removed = append(t.removed, string(key[8:]))
		}
		if len(keys) == 0 {
			return nil
		}
		if t.total >= before {
			return fmt.Errorf("%w: removing jobs makes no room", packedfile.ErrDamaged)
		}
	}
	return nil
}

// oldest lists the keys of up to n jobs in the bucket order, the oldest first, without the newest job.
func (t *txn) oldest(n int) (keys [][]byte) {
	c := t.order.Cursor()
	last, _ := c.Last()
	for key, _ := c.First(); key != nil && len(keys) < n && !bytes.Equal(key, last); key, _ = c.Next() {
		keys = append(keys, bytes.Clone(key))
	}
	return keys
}

// removeJob removes the job under a key of the bucket order, with its returns.
func (t *txn) removeJob(key []byte) error {
	jid := key[8:]
	if old := t.jobs.Get(jid); old != nil {
		t.total -= int64(len(jid) + len(old))
		if err := t.drop(t.jobs, jid); err != nil {
			return err
		}
	}
	t.total -= int64(len(key) + len(t.order.Get(key)))
	if err := t.drop(t.order, key); err != nil {
		return err
	}
	prefix := returnKey(string(jid), "")
	var keys [][]byte
	c := t.returns.Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		t.total -= int64(len(k) + len(v))
		keys = append(keys, bytes.Clone(k))
	}
	for _, k := range keys {
		if err := t.drop(t.returns, k); err != nil {
			return err
		}
	}
	return nil
}
