package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"brine/wire/disk/recordlog"
)

// Kind is what a record says.
type Kind byte

// The kinds. The body of the first two is a msgpack map: the proc entry, the load of the _return.
const (
	Begun    Kind = 'b' // the function may have begun
	Returned Kind = 'r' // the job has come to its end
	Gone     Kind = 'g' // the master has the return, or none is wanted
)

// A record of the file, which is a recordlog, is
//
//	kind (1 byte) | time, microseconds since 1970 (8) | length of key (2) | key | length of link (2) | link | body
const (
	head  = recordlog.Overhead
	fixed = 1 + 8 + 2 + 2
	most  = 1 << 30 // bytes of one whole record
	// slack is how many bytes of records that count no more a journal may hold.
	slack = 1 << 20
)

// Record is one record to be written.
type Record struct {
	Kind Kind
	Key  string
	Link string
	Body []byte
}

// errDamaged means that a record is damaged.
var errDamaged = errors.New("damaged record")

// errSize means that a record is larger than a journal takes.
var errSize = errors.New("journal: the record is too large")

// check tells whether the record could be read again.
func (r *Record) check() error { return checkSizes(len(r.Key), len(r.Link), len(r.Body)) }

func checkSizes(key, link, body int) error {
	if size := recordSize(key, link, body); key > math.MaxUint16 || link > math.MaxUint16 || size > most {
		return fmt.Errorf("%w: %d bytes", errSize, size)
	}
	return nil
}

func recordSize(key, link, body int) int64 {
	return int64(head + fixed + key + link + body)
}

func (r *Record) size() int64 { return recordSize(len(r.Key), len(r.Link), len(r.Body)) }

func (r *Record) append(dst []byte, now time.Time) []byte {
	dst = append(dst, byte(r.Kind))
	dst = binary.BigEndian.AppendUint64(dst, uint64(now.UnixMicro()))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(r.Key)))
	dst = append(dst, r.Key...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(r.Link)))
	dst = append(dst, r.Link...)
	return append(dst, r.Body...)
}

// parse reads a record.
func parse(rest []byte) (*Entry, error) {
	if len(rest) < fixed {
		return nil, errDamaged
	}
	e := &Entry{kind: Kind(rest[0]), at: time.UnixMicro(int64(binary.BigEndian.Uint64(rest[1:]))),
		len: head + int64(len(rest))}
	var ok bool
	if e.Key, rest, ok = cutText(rest[9:]); !ok {
		return nil, errDamaged
	}
	if e.Link, rest, ok = cutText(rest); !ok {
		return nil, errDamaged
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
