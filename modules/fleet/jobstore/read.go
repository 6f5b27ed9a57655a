package jobstore

import (
	"bytes"
	"fmt"

	"brine/wire/disk/packedfile"
	"brine/wire/payload"

	"go.etcd.io/bbolt"
)

// GetLoad returns the load of a job with the key Minions, the sorted ids it was sent to; nil when the job, or
// its load, is not known.
func (s *Store) GetLoad(jid string) (load *payload.Map, err error) {
	j, err := s.job(jid)
	if err != nil {
		return nil, err
	}
	if j == nil {
		return s.announced(jid), nil
	}
	if j.load == nil {
		return nil, nil
	}
	return withMinions(j.load, j.minions), nil
}

// announced reads a job whose load did not come to a commit before the process ended; nil when there is none.
func (s *Store) announced(jid string) *payload.Map {
	if !validJID(jid) {
		return nil
	}
	if l, ok := s.notes.get(jid); ok && l.Load != nil {
		return withMinions(l.Load, union(l.Minions, nil))
	}
	dir := s.layout.dir(jid)
	load, err := s.layout.load(dir)
	if err != nil || load == nil { // files that are damaged were not announced to the end
		return nil
	}
	return withMinions(load, s.layout.minions(dir))
}

// EndTime is the time of the last return of a job as Salt writes it; "" when it is not known.
func (s *Store) EndTime(jid string) string {
	j, err := s.job(jid)
	if err != nil || j == nil {
		return ""
	}
	return j.endTime
}

// job reads a job; nil when it is not known.
func (s *Store) job(jid string) (j *job, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketJobs).Get([]byte(jid))
		if b == nil {
			return nil
		}
		j, err = unpackJob(b)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("job store %s: job %s: %w", s.file, jid, err)
	}
	return j, nil
}

// GetJID returns what the minions of a job have answered: id → {return, retcode, success, out}, each with the
// keys that came. Nobody has answered, or the job is not known: an empty map.
func (s *Store) GetJID(jid string) (*payload.Map, error) {
	out := payload.NewMap(0)
	err := s.view(func(tx *bbolt.Tx) error {
		prefix := returnKey(jid, "")
		c := tx.Bucket(bucketReturns).Cursor()
		for k, v := c.Seek(firstReturn(jid)); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
			_, v, err := splitFacts(v)
			if err != nil {
				return fmt.Errorf("return of %s: %w", k[len(prefix):], err)
			}
			ret, err := payload.UnmarshalBinMap(v)
			if err != nil {
				return fmt.Errorf("return of %s: %w: %w", k[len(prefix):], packedfile.ErrDamaged, err)
			}
			out.Set(string(k[len(prefix):]), ret)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("job store %s: job %s: %w", s.file, jid, err)
	}
	return out, nil
}

// Returned says whether the return of a minion is stored.
func (s *Store) Returned(jid, id string) (found bool, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		found = tx.Bucket(bucketReturns).Get(returnKey(jid, id)) != nil
		return nil
	})
	return found, err
}

// GetJIDs maps job ids to loads, in the order of the ids. With Count the latest by time of arrival are taken.
func (s *Store) GetJIDs(f Filter) (*payload.Map, error) {
	k := keep{Filter: f, out: payload.NewMap(0)}
	err := s.view(func(tx *bbolt.Tx) error {
		jobs := tx.Bucket(bucketJobs)
		c := tx.Bucket(bucketOrder).Cursor()
		for key, _ := c.Last(); key != nil; key, _ = c.Prev() {
			if len(key) < 8 {
				return packedfile.ErrDamaged
			}
			jid := key[8:]
			j, err := unpackJob(jobs.Get(jid))
			if err != nil {
				return fmt.Errorf("job %s: %w", jid, err)
			}
			if j.load != nil && !k.add(string(jid), j.load) {
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("job store %s: %w", s.file, err)
	}
	return k.sorted(), nil
}

// Load, Returns and Loads are GetLoad, GetJID and GetJIDs by the names under which runners ask for them.
func (s *Store) Load(jid string) (*payload.Map, error)    { return s.GetLoad(jid) }
func (s *Store) Returns(jid string) (*payload.Map, error) { return s.GetJID(jid) }
func (s *Store) Loads() (*payload.Map, error)             { return s.GetJIDs(Filter{}) }
