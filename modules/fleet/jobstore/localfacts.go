package jobstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// fileFacts holds the facts of a job in its directory (see facts.go): records, one behind the other. Salt passes over
// names that begin with a dot, and removes the file with its job.
//
//	CRC-32 of the rest (4 bytes) | time of writing (8 bytes), 0 of a return's | length of the piece (4 bytes) | piece
//
// Nobody waits until it is on the disk: what a power cut leaves of a record is passed over.
const fileFacts = ".brine.facts"

const recordHead = 16

// appendRecord adds a record; at is 0 for the piece of a return.
func appendRecord(b []byte, at int64, piece []byte) []byte {
	begin := len(b)
	b = binary.BigEndian.AppendUint64(append(b, 0, 0, 0, 0), uint64(at))
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(piece))), piece...)
	binary.BigEndian.PutUint32(b[begin:], crc32.ChecksumIEEE(b[begin+4:]))
	return b
}

// cutRecord takes the first whole record that it finds in b, and what is behind it; nil when there is none.
func cutRecord(b []byte) (piece []byte, at int64, rest []byte) {
	for ; len(b) >= recordHead; b = b[1:] {
		n := binary.BigEndian.Uint32(b[12:])
		if uint64(n) > uint64(len(b)-recordHead) {
			continue
		}
		if end := recordHead + int(n); n > 0 && crc32.ChecksumIEEE(b[4:end]) == binary.BigEndian.Uint32(b) {
			return b[recordHead:end], int64(binary.BigEndian.Uint64(b[4:])), b[end:]
		}
	}
	return nil, 0, nil
}

// keepFacts writes the pieces among some loads, and those of the returns that are stored, each job's in one write. A
// repeated return has facts when the commit before has failed after it.
func (c *LocalCache) keepFacts(loads []Load, returns []Return, why []Why) error {
	var order []string
	records := map[string][]byte{}
	add := func(jid string, at int64, piece []byte) {
		if len(piece) == 0 || !validJID(jid) {
			return
		}
		if records[jid] == nil {
			order = append(order, jid)
		}
		records[jid] = appendRecord(records[jid], at, piece)
	}
	for _, l := range loads {
		add(l.JID, c.opt.now().UnixNano(), l.Facts)
	}
	for i, r := range returns {
		if why[i] == 0 || why[i] == Repeated {
			add(r.JID, 0, r.Facts)
		}
	}
	var errs []error
	for _, jid := range order {
		if err := c.appendFacts(jid, records[jid]); err != nil {
			errs = append(errs, fmt.Errorf("facts of job %s: %w", jid, err))
		}
	}
	return errors.Join(errs...)
}

// appendFacts adds records to the file of a job that is stored.
func (c *LocalCache) appendFacts(jid string, records []byte) error {
	dir := c.layout.dir(jid)
	if _, err := os.Lstat(filepath.Join(dir, fileJID)); err != nil {
		return ignoreMissing(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, fileFacts), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return ignoreMissing(err) // the job has just been removed
	}
	_, err = f.Write(records)
	return errors.Join(err, f.Close())
}

// Facts are those of Store: the pieces of a job and when each was written, oldest first.
func (c *LocalCache) Facts(jid string) (pieces [][]byte, written []time.Time, err error) {
	if !validJID(jid) {
		return nil, nil, nil
	}
	b, err := os.ReadFile(filepath.Join(c.layout.dir(jid), fileFacts))
	if err != nil {
		return nil, nil, ignoreMissing(err)
	}
	for {
		piece, at, rest := cutRecord(b)
		if piece == nil {
			return pieces, written, nil
		}
		when := time.Time{}
		if at != 0 {
			when = time.Unix(0, at)
		}
		pieces, written, b = append(pieces, slices.Clip(piece)), append(written, when), rest
	}
}
