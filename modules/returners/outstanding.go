package returners

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"brine/wire/payload"
)

// Pending is a job of which returns are outstanding.
type Pending struct {
	JID     string
	Created time.Time
	Load    *payload.Map // nil when only its minions are known
	Minions int          // it was sent to
	Silent  []string     // those that have not returned, in the order of their names
}

// Search bounds a search for pending jobs, which goes from the newest job to older ones.
type Search struct {
	Since time.Time   // of older jobs nothing is told
	Most  int         // jobs that are told
	Stop  func() bool // asked before each job: true ends the search
}

// Pending finds jobs of which returns are outstanding, the newest first. whole is false when the search was ended
// before it had seen all.
func (s *Store) Pending(q Search) (found []Pending, whole bool, err error) {
	whole = true
	err = s.view(func(tx *bbolt.Tx) error {
		jobs, returns := tx.Bucket(bucketJobs), tx.Bucket(bucketReturns).Cursor()
		c := tx.Bucket(bucketOrder).Cursor()
		for key, _ := c.Last(); key != nil; key, _ = c.Prev() {
			if len(key) < 8 {
				return ErrDamaged
			}
			created := createdOf(key)
			if created.Before(q.Since) {
				return nil
			}
			if whole = len(found) < q.Most && !q.Stop(); !whole {
				return nil
			}
			jid := string(key[8:])
			p, err := pendingJob(jid, jobs.Get(key[8:]), returns)
			if err != nil {
				return fmt.Errorf("job %s: %w", jid, err)
			}
			if p != nil {
				p.Created = created
				found = append(found, *p)
			}
		}
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("job store %s: %w", s.file, err)
	}
	return found, whole, nil
}

// pendingJob compares the minions of a stored job with its returns; nil when none is outstanding. The job is read as a
// whole only where the numbers differ.
func pendingJob(jid string, packed []byte, returns *bbolt.Cursor) (*Pending, error) {
	prefix := returnKey(jid, "")
	count := 0
	for k, _ := returns.Seek(firstReturn(jid)); k != nil && bytes.HasPrefix(k, prefix); k, _ = returns.Next() {
		count++
	}
	if n, ok := minionsOf(packed); ok && n <= count {
		return nil, nil
	}
	j, err := unpackJob(packed)
	if err != nil || j.noCache {
		return nil, err
	}
	back := make(map[string]bool, count)
	for k, _ := returns.Seek(firstReturn(jid)); k != nil && bytes.HasPrefix(k, prefix); k, _ = returns.Next() {
		back[string(k[len(prefix):])] = true
	}
	return pending(jid, j.load, j.minions, back), nil
}

// pending is nil when all have returned.
func pending(jid string, load *payload.Map, minions []string, back map[string]bool) *Pending {
	silent := slices.DeleteFunc(slices.Clone(minions), func(id string) bool { return back[id] })
	if len(silent) == 0 {
		return nil
	}
	slices.Sort(silent)
	return &Pending{JID: jid, Load: load, Minions: len(minions), Silent: silent}
}

// packedMinions is how the map of a packed job goes on after its first byte (see job.pack).
const packedMinions = "\xa7minions"

// minionsOf is the number of minions of a packed job, without reading it.
func minionsOf(packed []byte) (int, bool) {
	rest, ok := bytes.CutPrefix(packed[min(10, len(packed)):], []byte(packedMinions))
	if !ok || len(rest) == 0 {
		return 0, false
	}
	switch head := rest[0]; {
	case head >= 0x90 && head <= 0x9f:
		return int(head & 0x0f), true
	case head == 0xdc && len(rest) >= 3:
		return int(binary.BigEndian.Uint16(rest[1:])), true
	case head == 0xdd && len(rest) >= 5:
		return int(binary.BigEndian.Uint32(rest[1:])), true
	}
	return 0, false
}

// Pending finds jobs of which returns are outstanding. Jobs that are damaged are left out.
func (c *LocalCache) Pending(q Search) (found []Pending, whole bool, err error) {
	jobs, err := c.layout.recent(q.Since)
	if err != nil {
		return nil, false, fmt.Errorf("list jobs: %w", err)
	}
	for _, j := range jobs {
		if len(found) >= q.Most || q.Stop() {
			return found, false, nil
		}
		load, err := c.layout.load(j.dir)
		if err != nil || load.Str("jid") == "" {
			continue
		}
		back := map[string]bool{}
		files, _ := filepath.Glob(filepath.Join(globEscape(j.dir), "*", fileReturn))
		for _, f := range files {
			back[filepath.Base(filepath.Dir(f))] = true
		}
		if p := pending(load.Str("jid"), load, c.layout.minions(j.dir), back); p != nil {
			p.Created = j.when
			found = append(found, *p)
		}
	}
	return found, true, nil
}

// recent lists the jobs by the age of their jid file, the youngest first.
func (l layout) recent(since time.Time) (out []aged, err error) {
	err = l.jobs(func(dir string) (bool, error) {
		if info, err := os.Stat(filepath.Join(dir, fileJID)); err == nil && !info.ModTime().Before(since) {
			out = append(out, aged{dir: dir, when: info.ModTime()})
		}
		return true, nil
	})
	slices.SortFunc(out, func(a, b aged) int { return b.when.Compare(a.when) })
	return out, err
}
