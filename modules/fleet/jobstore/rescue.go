package jobstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"brine/wire/payload"

	"go.etcd.io/bbolt"
)

// rescued is what was taken over from a damaged file.
type rescued struct {
	jobs, returns int // that were
	bad           int // pages that could not be read
	spoiled       int // jobs and returns that could not
	made          int // jobs of which only returns were left
}

func (r rescued) String() string {
	return fmt.Sprintf("%d jobs and %d returns were taken over; %d of its pages and %d of its jobs and returns "+
		"cannot be read, and %d jobs are known by their returns alone",
		r.jobs, r.returns, r.bad, r.spoiled, r.made)
}

// rescue is one repair: it fills a new file with what it finds in a damaged one.
type rescue struct {
	in   *pages
	into *bbolt.DB
	got  rescued

	room [][3][]byte // bucket, key, value: not in the file yet
	size int
}

// rescueInto makes a file of jobs with what is whole in another one.
func rescueInto(path, from string) (got rescued, err error) {
	if err := ignoreMissing(os.Remove(path)); err != nil {
		return got, err
	}
	f, err := os.Open(from)
	if err != nil {
		return got, err
	}
	defer f.Close()
	into, err := bbolt.Open(path, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType, NoStatistics: true})
	if err != nil {
		return got, err
	}
	newest, _ := newestMeta(f)
	r := &rescue{in: &pages{in: f, meta: newest, seen: map[uint64]bool{}}, into: into}
	err = guarded(func() error { return r.run() })
	return r.got, errors.Join(err, into.Close())
}

func (r *rescue) run() error {
	if err := r.into.Update(prepare); err != nil {
		return err
	}
	if r.in.meta.pages > 0 { // else nothing says where anything is
		if err := r.in.buckets(r.leaf); err != nil {
			return err
		}
		if r.in.bad > 0 {
			if err := r.in.orphans(r.orphan); err != nil {
				return err
			}
		}
	}
	r.got.bad = r.in.bad
	if err := r.flush(); err != nil {
		return err
	}
	return r.into.Update(r.fit)
}

// leaf takes over the elements of a leaf of a bucket.
func (r *rescue) leaf(bucket string, pg page) error {
	all, ok := pg.elements()
	if !ok {
		r.in.bad++
	}
	for _, e := range all {
		if err := r.take([]byte(bucket), e); err != nil {
			return err
		}
	}
	return nil
}

// orphan takes over a leaf of which it is not known what bucket it belongs to. The order of jobs follows from the jobs.
func (r *rescue) orphan(pg page) error {
	all, _ := pg.elements()
	for _, e := range all {
		var err error
		if _, bad := unpackJob(e.value); bad == nil && validJID(string(e.key)) {
			err = r.takeNew(bucketJobs, e)
		} else if readable(bucketReturns, e) && bytes.IndexByte(e.key, 0) > 0 && len(e.value) > 0 {
			err = r.takeNew(bucketReturns, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeNew takes what is not there: a page that is free may hold an older state of it.
func (r *rescue) takeNew(bucket []byte, e element) error {
	if err := r.flush(); err != nil {
		return err
	}
	there := false
	if err := r.into.View(func(tx *bbolt.Tx) error {
		there = tx.Bucket(bucket).Get(e.key) != nil
		return nil
	}); err != nil || there {
		return err
	}
	return r.take(bucket, e)
}

// readable tells whether the value of an element is one of its bucket.
func readable(bucket []byte, e element) bool {
	switch {
	case bytes.Equal(bucket, bucketJobs):
		_, err := unpackJob(e.value)
		return err == nil
	case bytes.Equal(bucket, bucketReturns):
		at := bytes.IndexByte(e.key, 0)
		if at < 0 {
			return false
		}
		if isFacts(e.key, e.key[:at+1]) {
			return true
		}
		_, ret, err := splitFacts(e.value)
		if err == nil {
			_, err = payload.UnmarshalBinMap(ret)
		}
		return err == nil
	}
	return true
}

func (r *rescue) take(bucket []byte, e element) error {
	switch {
	case len(e.key) == 0 || bytes.Equal(bucket, bucketTotals) || e.flags&bucketFlag != 0:
		return nil
	case !readable(bucket, e):
		r.got.spoiled++
		return nil
	case bytes.Equal(bucket, bucketJobs):
		r.got.jobs++
	case bytes.Equal(bucket, bucketReturns) && !isFacts(e.key, e.key[:bytes.IndexByte(e.key, 0)+1]):
		r.got.returns++
	}
	r.room = append(r.room, [3][]byte{bytes.Clone(bucket), bytes.Clone(e.key), bytes.Clone(e.value)})
	if r.size += len(e.key) + len(e.value); r.size > compactPiece {
		return r.flush()
	}
	return nil
}

// flush writes what was taken.
func (r *rescue) flush() error {
	if len(r.room) == 0 {
		return nil
	}
	err := r.into.Update(func(tx *bbolt.Tx) error {
		for _, e := range r.room {
			b := tx.Bucket(e[0])
			if b == nil { // of a later version of the format
				continue
			}
			b.FillPercent = fillPercent
			if err := b.Put(e[1], e[2]); err != nil {
				return err
			}
		}
		return nil
	})
	r.room, r.size = nil, 0
	return err
}

// fit makes what was taken over fit together: each job is in the order, each in the order is a job, each return has
// one.
func (r *rescue) fit(tx *bbolt.Tx) error {
	jobs, order := tx.Bucket(bucketJobs), tx.Bucket(bucketOrder)
	if err := r.makeJobs(tx); err != nil {
		return err
	}
	ordered := map[string]bool{}
	var drop [][]byte
	c := order.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		if len(k) < 9 || jobs.Get(k[8:]) == nil {
			drop = append(drop, bytes.Clone(k))
			continue
		}
		ordered[string(k[8:])] = true
	}
	for _, k := range drop {
		if err := order.Delete(k); err != nil {
			return err
		}
	}
	var missing [][]byte
	c = jobs.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if !ordered[string(k)] {
			missing = append(missing, orderKey(v, string(k)))
		}
	}
	for _, k := range missing {
		if err := order.Put(k, []byte{}); err != nil {
			return err
		}
	}
	return sumUp(tx)
}

// makeJobs makes the jobs of which only returns are left.
func (r *rescue) makeJobs(tx *bbolt.Tx) error {
	jobs := tx.Bucket(bucketJobs)
	ids := map[string][]string{}
	c := tx.Bucket(bucketReturns).Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		jid, id, _ := bytes.Cut(k, []byte{0})
		if jobs.Get(jid) == nil && len(id) > 0 && id[0] != 0 {
			ids[string(jid)] = append(ids[string(jid)], string(id))
		}
	}
	for jid, minions := range ids {
		j := &job{created: time.Now(), minions: minions}
		if at, ok := payload.JIDTime(jid); ok {
			j.created = at
		}
		b, err := j.pack()
		if err != nil {
			return err
		}
		if err := jobs.Put([]byte(jid), b); err != nil {
			return err
		}
	}
	r.got.made = len(ids)
	return nil
}

// sumUp writes how many bytes are stored.
func sumUp(tx *bbolt.Tx) error {
	var n int64
	for _, name := range [][]byte{bucketJobs, bucketReturns, bucketOrder} {
		c := tx.Bucket(name).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			n += int64(len(k) + len(v))
		}
	}
	return tx.Bucket(bucketTotals).Put(keyBytes, binary.BigEndian.AppendUint64(nil, uint64(n)))
}
