package jobstore

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"brine/wire/disk/packedfile"

	"go.etcd.io/bbolt"
)

// cleanBatch is how many jobs one transaction removes, so that commits get their turn in between.
const cleanBatch = 100

// sweepEvery is how often Clean looks through the job directories for some that the store does not know.
const sweepEvery = time.Hour

// Clean removes the jobs that are older than Keep with all that belongs to them, and the oldest ones while the
// store is over its cap. It returns how many were removed.
func (s *Store) Clean(now time.Time) (removed int, err error) {
	if !s.checked {
		s.checked = true
		s.suspects(s.check())
	}
	if why := s.suspect.Swap(nil); why != nil {
		s.repair(*why)
	}
	defer func() { s.release(time.Now()) }() // who has read much since the last commit has left pages, too
	first := ""
	for {
		jids, err := s.cleanSome(now)
		if err == nil && len(jids) > 0 && jids[0] == first {
			err = fmt.Errorf("%w: job %s does not go away", packedfile.ErrDamaged, first)
		}
		if len(jids) > 0 {
			first = jids[0]
		}
		for _, jid := range jids {
			err = errors.Join(err, s.layout.remove(s.layout.dir(jid)))
		}
		removed += len(jids)
		if err != nil {
			return removed, fmt.Errorf("job store %s: clean: %w", s.file, err)
		}
		if len(jids) < cleanBatch {
			break
		}
	}
	if now.Sub(s.swept) >= sweepEvery {
		s.swept = now
		if err := s.sweep(now); err != nil {
			return removed, fmt.Errorf("clean job directories: %w", err)
		}
	}
	return removed, nil
}

// cleanSome removes up to cleanBatch jobs from the file and returns their ids.
func (s *Store) cleanSome(now time.Time) (jids []string, err error) {
	err = s.update(func(tx *bbolt.Tx) error {
		jids = nil
		t := newTxn(tx, s.opt, s.layout)
		t.changes = s.changes
		for _, key := range t.dueKeys(s.opt, now) {
			if !t.due(s.opt, key, now) {
				break
			}
			if err := t.removeJob(key); err != nil {
				return err
			}
			jids = append(jids, string(key[8:]))
		}
		if len(jids) == 0 {
			return nil
		}
		return t.setTotal()
	})
	if err != nil {
		return nil, err
	}
	return jids, nil
}

// dueKeys lists the jobs that may have to go: the oldest, and the newest too when it is past its age.
func (t *txn) dueKeys(opt Options, now time.Time) [][]byte {
	keys := t.oldest(cleanBatch)
	if len(keys) < cleanBatch && opt.Keep > 0 {
		if last, _ := t.order.Cursor().Last(); last != nil && now.Sub(keyTime(last)) > opt.Keep {
			keys = append(keys, bytes.Clone(last))
		}
	}
	return keys
}

// due says whether a job has to go.
func (t *txn) due(opt Options, key []byte, now time.Time) bool {
	return opt.Keep > 0 && now.Sub(keyTime(key)) > opt.Keep || opt.MaxBytes > 0 && t.total > opt.MaxBytes
}

// keyTime is the time of creation in a key of the bucket order.
func keyTime(key []byte) time.Time {
	if len(key) < 8 {
		return time.Time{}
	}
	return createdOf(key)
}

// sweep removes job directories that belong to no stored job: those of jobs that went because of the cap, and
// old ones of another job cache.
func (s *Store) sweep(now time.Time) error {
	limit := max(s.opt.Keep, orphanAge)
	if s.opt.Keep == 0 {
		return nil
	}
	_, err := s.layout.clean(now, limit, func(jid string) bool {
		j, err := s.job(jid)
		return err == nil && j == nil
	})
	return err
}
