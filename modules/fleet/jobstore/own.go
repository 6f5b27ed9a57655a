package jobstore

import (
	"bytes"
	"fmt"

	"brine/wire/payload"

	"go.etcd.io/bbolt"
)

// ownShare is the part of a store that has a cap which the jobs of one minion may take that nobody asked the master
// for: those of its schedules, and those that it made up. Beyond it they go before all others when the store is full.
const ownShare = 64

// setOwner notes whose job it is that has just been stored, in the bucket order. A job that somebody asks the master
// for is no minion's any more.
func (t *txn) setOwner(l Load, key []byte, fresh bool) error {
	switch old := t.order.Get(key); {
	case fresh && l.By != "":
		return t.put(t.order, key, []byte(l.By), []byte{})
	case !fresh && l.By == "" && l.Load != nil && len(old) > 0:
		return t.put(t.order, key, []byte{}, bytes.Clone(old))
	}
	return nil
}

// own are the jobs of one minion: their keys in the bucket order, the oldest first, and how many bytes each takes.
type own struct {
	keys  [][]byte
	sizes []int64
	total int64
}

// shrinkOwn makes room in a store that is full: of the minion with the most bytes of its own the oldest jobs go, as
// long as it has more than its share.
func (t *txn) shrinkOwn(maxBytes int64) error {
	limit, share := maxBytes-maxBytes/20, maxBytes/ownShare
	all := t.owned()
	for t.total > limit {
		var most *own
		for _, o := range all {
			if most == nil || o.total > most.total {
				most = o
			}
		}
		if most == nil || most.total <= share {
			return nil
		}
		key := most.keys[0]
		if err := t.removeJob(key); err != nil {
			return err
		}
		t.removed = append(t.removed, string(key[8:]))
		most.total -= most.sizes[0]
		most.keys, most.sizes = most.keys[1:], most.sizes[1:]
	}
	return nil
}

// owned lists the jobs of minions.
func (t *txn) owned() map[string]*own {
	all := map[string]*own{}
	c := t.order.Cursor()
	for key, by := c.First(); key != nil; key, by = c.Next() {
		if len(by) == 0 {
			continue
		}
		o := all[string(by)]
		if o == nil {
			o = &own{}
			all[string(by)] = o
		}
		size := t.size(key)
		o.keys, o.sizes, o.total = append(o.keys, bytes.Clone(key)), append(o.sizes, size), o.total+size
	}
	return all
}

// size is how many bytes a job takes, with its returns.
func (t *txn) size(key []byte) (n int64) {
	jid := key[8:]
	n = int64(len(key) + len(jid) + len(t.jobs.Get(jid)))
	prefix := returnKey(string(jid), "")
	c := t.returns.Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		n += int64(len(k) + len(v))
	}
	return n
}

// Asked is GetLoad for a job that somebody asked the master for; nil when it is a minion's own.
func (s *Store) Asked(jid string) (*payload.Map, error) {
	var by []byte
	err := s.view(func(tx *bbolt.Tx) error {
		if packed := tx.Bucket(bucketJobs).Get([]byte(jid)); len(packed) >= 8 {
			by = bytes.Clone(tx.Bucket(bucketOrder).Get(orderKey(packed, jid)))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("job store %s: owner of job %s: %w", s.file, jid, err)
	}
	if len(by) > 0 {
		return nil, nil
	}
	return s.GetLoad(jid)
}
