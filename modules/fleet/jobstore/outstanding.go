package jobstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"brine/wire/disk/packedfile"
	"brine/wire/payload"

	"go.etcd.io/bbolt"
)

// Pending is a job of which returns are outstanding, or any job when all are searched for.
type Pending struct {
	JID     string
	Created time.Time
	Load    *payload.Map // nil when only its minions are known
	Minions int          // it was sent to
	Silent  []string     // those that have not returned, in the order of their names
	NoCache bool         // its returns are not stored: who is silent is not known
}

// Search bounds a search for pending jobs, which goes from the newest job to older ones.
type Search struct {
	Since time.Time                    // of older jobs nothing is told
	Most  int                          // jobs that are told
	Stop  func() bool                  // asked before each job: true ends the search
	All   bool                         // those of which no return is outstanding as well
	Want  func(load *payload.Map) bool // which of them are told; nil: each
}

func (q Search) wants(p *Pending) bool { return p != nil && (q.Want == nil || q.Want(p.Load)) }

// Pending finds jobs of which returns are outstanding, or all jobs, the newest first. whole is false when the search
// was ended before it had seen all.
func (s *Store) Pending(q Search) (found []Pending, whole bool, err error) {
	whole = true
	err = s.view(func(tx *bbolt.Tx) error {
		jobs, returns := tx.Bucket(bucketJobs), tx.Bucket(bucketReturns).Cursor()
		c := tx.Bucket(bucketOrder).Cursor()
		for key, _ := c.Last(); key != nil; key, _ = c.Prev() {
			if len(key) < 8 {
				return packedfile.ErrDamaged
			}
			created := createdOf(key)
			if created.Before(q.Since) {
				return nil
			}
			if whole = len(found) < q.Most && !q.Stop(); !whole {
				return nil
			}
			jid := string(key[8:])
			packed := jobs.Get(key[8:])
			names, _ := readNames(packed)
			if !q.All && s.whole.has(jid, names.left) {
				continue
			}
			p, err := pendingJob(jid, packed, returns, q.All)
			if p == nil && err == nil {
				s.whole.add(jid, names.left)
			}
			if err != nil {
				return fmt.Errorf("job %s: %w", jid, err)
			}
			if q.wants(p) {
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

// wholeJobs remembers jobs of which no return is outstanding, so that they need not be searched again. It is safe for
// concurrent use.
type wholeJobs struct {
	mu   sync.Mutex
	jobs map[string]int // jid → minions it was sent to: a syndic may add some
}

// maxWhole bounds what is remembered.
const maxWhole = 1 << 16

func (w *wholeJobs) has(jid string, minions int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, ok := w.jobs[jid]
	return ok && n == minions
}

func (w *wholeJobs) add(jid string, minions int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.jobs == nil || len(w.jobs) >= maxWhole {
		w.jobs = map[string]int{}
	}
	w.jobs[jid] = minions
}

// pendingJob compares the minions of a stored job with its returns; nil when none is outstanding, unless all are
// wanted. Both are in order, so the job is read as a whole only where they differ.
func pendingJob(jid string, packed []byte, returns *bbolt.Cursor, all bool) (*Pending, error) {
	if !all && inOrder(jid, packed, returns) {
		return nil, nil
	}
	j, err := unpackJob(packed)
	if err != nil || j.noCache && !all {
		return nil, err
	}
	if j.noCache {
		return &Pending{JID: jid, Load: j.load, Minions: len(j.minions), NoCache: true}, nil
	}
	back, prefix := make(map[string]bool, len(j.minions)), returnKey(jid, "")
	for k, _ := returns.Seek(firstReturn(jid)); k != nil && bytes.HasPrefix(k, prefix); k, _ = returns.Next() {
		back[string(k[len(prefix):])] = true
	}
	return pending(jid, j.load, j.minions, back, all), nil
}

// inOrder tells whether the returns of a job are those of its minions, one after the other.
func inOrder(jid string, packed []byte, returns *bbolt.Cursor) bool {
	prefix := returnKey(jid, "")
	names, same := readNames(packed)
	for k, _ := returns.Seek(firstReturn(jid)); k != nil && same && bytes.HasPrefix(k, prefix); k, _ = returns.Next() {
		name, ok := names.next()
		same = ok && bytes.Equal(name, k[len(prefix):])
	}
	return same && names.left == 0
}

// pending is nil when all have returned, unless all are wanted.
func pending(jid string, load *payload.Map, minions []string, back map[string]bool, all bool) *Pending {
	silent := slices.DeleteFunc(slices.Clone(minions), func(id string) bool { return back[id] })
	if len(silent) == 0 && !all {
		return nil
	}
	slices.Sort(silent)
	return &Pending{JID: jid, Load: load, Minions: len(minions), Silent: silent}
}

// packedMinions is how the map of a packed job goes on after its first byte (see job.pack).
const packedMinions = "\xa7minions"

// nameReader reads the minions of a packed job one by one, without reading the job.
type nameReader struct {
	b    []byte
	left int
}

// readNames begins to read them. False: they are not where they are expected.
func readNames(packed []byte) (*nameReader, bool) {
	rest, ok := bytes.CutPrefix(packed[min(10, len(packed)):], []byte(packedMinions))
	if !ok || len(rest) == 0 {
		return &nameReader{}, false
	}
	switch head := rest[0]; {
	case head >= 0x90 && head <= 0x9f:
		return &nameReader{rest[1:], int(head & 0x0f)}, true
	case head == 0xdc && len(rest) >= 3:
		return &nameReader{rest[3:], int(binary.BigEndian.Uint16(rest[1:]))}, true
	case head == 0xdd && len(rest) >= 5:
		return &nameReader{rest[5:], int(binary.BigEndian.Uint32(rest[1:]))}, true
	}
	return &nameReader{}, false
}

// next is the next name; false at the end, and where there is something else.
func (r *nameReader) next() ([]byte, bool) {
	if r.left == 0 || len(r.b) == 0 {
		return nil, false
	}
	var size, skip int
	switch head := r.b[0]; {
	case head >= 0xa0 && head <= 0xbf:
		size, skip = int(head&0x1f), 1
	case head == 0xd9 && len(r.b) >= 2:
		size, skip = int(r.b[1]), 2
	case head == 0xda && len(r.b) >= 3:
		size, skip = int(binary.BigEndian.Uint16(r.b[1:])), 3
	default:
		return nil, false
	}
	if len(r.b) < skip+size {
		return nil, false
	}
	name := r.b[skip : skip+size]
	r.b, r.left = r.b[skip+size:], r.left-1
	return name, true
}

// Pending finds jobs of which returns are outstanding, or all jobs. Those that are damaged are left out.
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
		jid := payload.NewPublishRequest(load).JID()
		if err != nil || jid == "" {
			continue
		}
		if p := c.pendingJob(j, jid, load, q.All); q.wants(p) {
			found = append(found, *p)
		}
	}
	return found, true, nil
}

// pendingJob is nil when no return is outstanding, unless all are wanted.
func (c *LocalCache) pendingJob(j aged, jid string, load *payload.Map, all bool) *Pending {
	minions := c.layout.minions(j.dir)
	if _, err := os.Lstat(filepath.Join(j.dir, fileNoCache)); err == nil {
		if !all {
			return nil
		}
		return &Pending{JID: jid, Created: j.when, Load: load, Minions: len(minions), NoCache: true}
	}
	back := map[string]bool{}
	files, _ := filepath.Glob(filepath.Join(globEscape(j.dir), "*", fileReturn))
	for _, f := range files {
		back[filepath.Base(filepath.Dir(f))] = true
	}
	p := pending(jid, load, minions, back, all)
	if p != nil {
		p.Created = j.when
	}
	return p
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
