package minion

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"brine/wire/disk/recordlog"
)

// journalKind is what a record says.
type journalKind byte

// The kinds. The body of the first two is a msgpack map: the proc entry, the load of the _return.
const (
	journalBegun  journalKind = 'b' // the function may have begun
	journalReturn journalKind = 'r' // the job has come to its end
	journalGone   journalKind = 'g' // the master has the return, or none is wanted
)

// A record of the file, which is a recordlog, is
//
//	kind (1 byte) | time, microseconds since 1970 (8) | length of key (2) | key | length of link (2) | link | body
const (
	journalHead  = recordlog.Overhead
	journalFixed = 1 + 8 + 2 + 2
	journalMost  = 1 << 30 // bytes of one whole record
	// journalSlack is how many bytes of records that count no more a journal may hold.
	journalSlack = 1 << 20
)

// journalRecord is one record to be written.
type journalRecord struct {
	kind journalKind
	key  string
	link string
	body []byte
}

// errJournal means that a record is damaged.
var errJournal = errors.New("damaged record")

// errRecordSize means that a record is larger than a journal takes.
var errRecordSize = errors.New("journal: the record is too large")

// check tells whether the record could be read again.
func (r *journalRecord) check() error { return checkSizes(len(r.key), len(r.link), len(r.body)) }

func checkSizes(key, link, body int) error {
	if size := recordSize(key, link, body); key > math.MaxUint16 || link > math.MaxUint16 || size > journalMost {
		return fmt.Errorf("%w: %d bytes", errRecordSize, size)
	}
	return nil
}

func recordSize(key, link, body int) int64 {
	return int64(journalHead + journalFixed + key + link + body)
}

func (r *journalRecord) size() int64 { return recordSize(len(r.key), len(r.link), len(r.body)) }

func (r *journalRecord) append(dst []byte, now time.Time) []byte {
	dst = append(dst, byte(r.kind))
	dst = binary.BigEndian.AppendUint64(dst, uint64(now.UnixMicro()))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(r.key)))
	dst = append(dst, r.key...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(r.link)))
	dst = append(dst, r.link...)
	return append(dst, r.body...)
}

// parseJournal reads a record.
func parseJournal(rest []byte) (*journalEntry, error) {
	if len(rest) < journalFixed {
		return nil, errJournal
	}
	e := &journalEntry{kind: journalKind(rest[0]), at: time.UnixMicro(int64(binary.BigEndian.Uint64(rest[1:]))),
		len: journalHead + int64(len(rest))}
	var ok bool
	if e.key, rest, ok = cutText(rest[9:]); !ok {
		return nil, errJournal
	}
	if e.link, rest, ok = cutText(rest); !ok {
		return nil, errJournal
	}
	e.body = int64(len(rest))
	return e, nil
}

func cutText(b []byte) (text string, rest []byte, ok bool) {
	if len(b) < 2 {
		return "", nil, false
	}
	n := int(binary.BigEndian.Uint16(b))
	if n > len(b)-2 {
		return "", nil, false
	}
	return string(b[2 : 2+n]), b[2+n:], true
}
