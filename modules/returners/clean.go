package returners

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// cleanBatch is how many jobs one transaction removes, so that commits get their turn in between.
const cleanBatch = 100

// sweepEvery is how often Clean looks through the job directories for some that the store does not know.
const sweepEvery = time.Hour

// Clean removes the jobs that are older than Keep with all that belongs to them, and the oldest ones while the
// store is over its cap. It returns how many were removed.
func (s *Store) Clean(now time.Time) (removed int, err error) {
	for {
		jids, err := s.cleanSome(now)
		for _, jid := range jids {
			err = errors.Join(err, s.layout.remove(s.layout.dir(jid)))
		}
		removed += len(jids)
		if err != nil {
			return removed, fmt.Errorf("job store %s: clean: %w", s.db.Path(), err)
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
		t := newTxn(tx, s.opt)
		for len(jids) < cleanBatch {
			key, _ := t.order.Cursor().First()
			if key == nil || !s.due(t, key, now) {
				break
			}
			key = bytes.Clone(key)
			if err := t.removeJob(key); err != nil {
				return err
			}
			jids = append(jids, string(key[8:]))
		}
		if len(jids) == 0 {
			return nil
		}
		return setTotalBytes(tx, t.total)
	})
	if err != nil {
		return nil, err
	}
	return jids, nil
}

// due says whether the oldest job has to go.
func (s *Store) due(t *txn, key []byte, now time.Time) bool {
	created := time.Unix(0, int64(binary.BigEndian.Uint64(key)))
	if s.opt.Keep > 0 && now.Sub(created) > s.opt.Keep {
		return true
	}
	last, _ := t.order.Cursor().Last()
	return s.opt.MaxBytes > 0 && t.total > s.opt.MaxBytes && !bytes.Equal(key, last)
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
