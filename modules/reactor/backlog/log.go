package backlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"

	"brine/wire/disk/recordlog"
	"brine/wire/disk/setaside"
)

// Kinds of records.
const (
	kindEvent = 'E' // rest: the body
	kindBegun = 'B' // length of the jid (1 byte), jid, call
	kindEnded = 'C' // the same: the call has come to its end
	kindDone  = 'D'
)

// A record of the file is kind (1 byte), number of the event (8), the rest.
const (
	fixedSize = 9
	maxRecord = 1 << 30
	slack     = 1 << 20 // bytes of a file that is not worth to be made anew
)

// record is one entry of the file.
type record struct {
	kind      byte
	seq       uint64
	rest      []byte
	call, jid string
	at        int64 // of the rest, in a file that is read
}

// log is the file.
type log struct {
	path   string
	f      *os.File // nil: it cannot be made; each record tries again
	format recordlog.Format
	size   int64 // where the next record goes
}

// openLog opens the file and calls each for all records that are whole. What is damaged is told of. A file that cannot
// be made now is made with a later record.
func openLog(path string, each func(record)) (l *log, damage error, err error) {
	l = &log{path: path}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		l.renew(nothing)
		return l, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open backlog: %w", err)
	}
	found, err := recordlog.Scan(f, recordlog.Old(crc32.IEEETable), func(at int64, body []byte) error {
		r, err := parse(at, body)
		if err == nil {
			each(r)
		}
		return err
	})
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read backlog: %w", err), f.Close())
	}
	l.f, l.format, l.size = f, found.Format, found.End
	return l, found.Damage(), nil
}

func nothing(func(record) (int64, error)) error { return nil }

// setAside keeps a damaged file under another name, in whose place renew puts another one. Where it cannot, the file is
// added to at its end.
func (l *log) setAside(why error, fill func(put func(record) (int64, error)) error) setaside.Damage {
	d := setaside.Damage{Path: l.path, Err: why}
	err := l.make(recordlog.Making{Kept: &d.Kept}, fill)
	if err == nil {
		return d
	}
	d.Err = errors.Join(why, err)
	if l.format == (recordlog.Format{}) {
		_ = l.f.Close() // nothing in it can be read
		l.f = nil
	} else if info, err := l.f.Stat(); err == nil {
		l.size = info.Size()
	}
	return d
}

var errDamaged = errors.New("backlog: damaged")

// parse reads a record; its rest is lent.
func parse(at int64, body []byte) (record, error) {
	if len(body) < fixedSize {
		return record{}, errDamaged
	}
	r := record{kind: body[0], seq: binary.BigEndian.Uint64(body[1:fixedSize]), rest: body[fixedSize:],
		at: at + fixedSize}
	if r.kind == kindBegun || r.kind == kindEnded {
		if len(r.rest) == 0 || int(r.rest[0]) > len(r.rest)-1 {
			return record{}, errDamaged
		}
		end := 1 + int(r.rest[0])
		r.jid, r.call = string(r.rest[1:end]), string(r.rest[end:])
	}
	return r, nil
}

// pack appends a record.
func (r record) pack(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, r.kind), r.seq)
	if r.kind == kindBegun || r.kind == kindEnded {
		jid := r.jid[:min(len(r.jid), 255)]
		return append(append(append(b, byte(len(jid))), jid...), r.call...)
	}
	return append(b, r.rest...)
}

// append writes a record and returns where its rest stands. What was written by halves does not stay.
func (l *log) append(r record) (int64, error) {
	if len(r.rest) > maxRecord {
		return 0, fmt.Errorf("write backlog: a record of %d bytes", len(r.rest))
	}
	if l.f == nil {
		if err := l.make(recordlog.Making{}, nothing); err != nil {
			return 0, fmt.Errorf("write backlog: %w", err)
		}
	}
	raw := l.format.Append(nil, r.pack)
	if _, err := l.f.WriteAt(raw, l.size); err != nil {
		return 0, errors.Join(fmt.Errorf("write backlog: %w", err), l.f.Truncate(l.size))
	}
	at := l.size + recordlog.Overhead + fixedSize
	l.size += int64(len(raw))
	return at, nil
}

// body is the rest of a record, as it was written.
func (l *log) body(at int64, size int) ([]byte, error) {
	if l.f == nil {
		return nil, os.ErrClosed
	}
	const before = recordlog.Overhead + fixedSize
	raw := make([]byte, before+size)
	if _, err := l.f.ReadAt(raw, at-before); err != nil {
		return nil, fmt.Errorf("read backlog: %w", err)
	}
	if _, ok := l.format.Body(raw); !ok {
		return nil, errDamaged
	}
	return raw[before:], nil
}

// empty takes all out of the file, once it is worth it.
func (l *log) empty() {
	if l.size > slack {
		l.cut()
	}
}

func (l *log) cut() {
	switch {
	case l.f == nil:
	case !l.format.Headed():
		l.renew(nothing)
	default:
		if err := l.f.Truncate(l.format.Begin()); err == nil { // else it grows on
			l.size = l.format.Begin()
		}
	}
}

// renew makes a new file of the records that fill puts, and takes it in place of this one. Where that fails, this one
// stays.
func (l *log) renew(fill func(put func(record) (int64, error)) error) bool {
	return l.make(recordlog.Making{}, fill) == nil
}

func (l *log) make(how recordlog.Making, fill func(put func(record) (int64, error)) error) error {
	f, format, size, err := recordlog.Create(l.path, how, func(put func(func([]byte) []byte) (int64, int64,
		error)) error {
		return fill(func(r record) (int64, error) {
			at, _, err := put(r.pack)
			return at + fixedSize, err
		})
	})
	if err != nil {
		return err
	}
	if l.f != nil {
		_ = l.f.Close() // it has no name any more
	}
	l.f, l.format, l.size = f, format, size
	return nil
}

func (l *log) close() error {
	if l.f == nil {
		return nil
	}
	return l.f.Close()
}
