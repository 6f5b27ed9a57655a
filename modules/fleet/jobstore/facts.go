package jobstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"brine/wire/disk/packedfile"

	"go.etcd.io/bbolt"
)

// Facts are what the master knows of a job beside its load and returns, in pieces whose content is not this package's
// business. Those of a return stand in front of it in its value, behind a byte with which no return begins:
//
//	0xc1 | length of the piece (4 bytes) | piece | return
//
// Those of the job lie among its returns, so that no commit writes another page for them, under a key that no id gives:
//
//	jid | NUL | NUL | time of writing (8 bytes)

// factsMark is the byte that msgpack never uses.
const factsMark = 0xc1

// factsHead is the size of what stands before a piece in a value.
const factsHead = 5

// appendFacts begins the value of a return.
func appendFacts(b, piece []byte) []byte {
	if len(piece) == 0 {
		return b
	}
	b = binary.BigEndian.AppendUint32(append(b, factsMark), uint32(len(piece)))
	return append(b, piece...)
}

// splitFacts takes the value of a return apart.
func splitFacts(v []byte) (piece, ret []byte, err error) {
	if len(v) == 0 || v[0] != factsMark {
		return nil, v, nil
	}
	if len(v) < factsHead || uint64(len(v)-factsHead) < uint64(binary.BigEndian.Uint32(v[1:])) {
		return nil, nil, packedfile.ErrDamaged
	}
	end := factsHead + int(binary.BigEndian.Uint32(v[1:]))
	return v[factsHead:end], v[end:], nil
}

// factsKey is the key of a piece that belongs to a job.
func factsKey(jid string, at int64) []byte {
	return binary.BigEndian.AppendUint64(returnKey(jid, "\x00"), uint64(at))
}

// firstReturn is where the returns of a job begin, behind its pieces.
func firstReturn(jid string) []byte { return returnKey(jid, "\x01") }

// isFacts tells a piece among the returns with a prefix.
func isFacts(key, prefix []byte) bool { return len(key) > len(prefix) && key[len(prefix)] == 0 }

// Facts are the pieces of a job and when each was written: those of the job, oldest first, then those of its returns,
// whose time is zero. None: the job is not known, or was stored without.
func (s *Store) Facts(jid string) (pieces [][]byte, written []time.Time, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		prefix := returnKey(jid, "")
		c := tx.Bucket(bucketReturns).Cursor()
		for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
			at := time.Time{}
			if !isFacts(k, prefix) {
				if v, _, err = splitFacts(v); err != nil {
					return err
				}
			} else if len(k) != len(prefix)+9 {
				return packedfile.ErrDamaged
			} else {
				at = createdOf(k[len(prefix)+1:])
			}
			if len(v) > 0 {
				pieces, written = append(pieces, bytes.Clone(v)), append(written, at)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("job store %s: facts of job %s: %w", s.file, jid, err)
	}
	return pieces, written, nil
}

// putFacts stores the pieces among some loads, those of jobs that are stored.
func (t *txn) putFacts(loads []Load) error {
	for _, l := range loads {
		if l.Facts == nil || !validJID(l.JID) || t.jobs.Get([]byte(l.JID)) == nil {
			continue
		}
		at := t.opt.now().UnixNano()
		key := factsKey(l.JID, at)
		for t.returns.Get(key) != nil { // of the same moment
			at++
			key = factsKey(l.JID, at)
		}
		if err := t.put(t.returns, key, l.Facts, nil); err != nil {
			return fmt.Errorf("facts of job %s: %w", l.JID, err)
		}
	}
	return nil
}
