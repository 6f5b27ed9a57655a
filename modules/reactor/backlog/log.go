package backlog

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// Kinds of records.
const (
	kindEvent = 'E' // rest: the body
	kindBegun = 'B' // length of the jid (1 byte), jid, call
	kindEnded = 'C' // the same: the call has come to its end
	kindDone  = 'D'
)

// headSize is length (4 bytes) and checksum (4) of what follows: kind (1), number of the event (8), the rest.
const (
	headSize  = 8
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
	path string
	f    *os.File
	size int64 // of what stands in it whole
}

func openLog(path string) (*log, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open backlog: %w", err)
	}
	return &log{path: path, f: f}, nil
}

// read calls each for all records, and cuts off what is damaged at the end.
func (l *log) read(each func(record)) (lost int64, err error) {
	info, err := l.f.Stat()
	if err != nil {
		return 0, fmt.Errorf("read backlog: %w", err)
	}
	in := bufio.NewReaderSize(l.f, 1<<16)
	for {
		r, n, err := readRecord(in, l.size, info.Size()-l.size)
		if err != nil {
			break
		}
		l.size += n
		each(r)
	}
	if lost = info.Size() - l.size; lost > 0 {
		if err := l.f.Truncate(l.size); err != nil {
			return lost, fmt.Errorf("cut backlog: %w", err)
		}
	}
	return lost, nil
}

var errDamaged = errors.New("backlog: damaged")

func readRecord(in io.Reader, at, left int64) (r record, n int64, err error) {
	var head [headSize]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return r, 0, err
	}
	size := int64(binary.BigEndian.Uint32(head[:4]))
	if size < fixedSize || size > maxRecord || size+headSize > left {
		return r, 0, errDamaged
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(in, raw); err != nil {
		return r, 0, err
	}
	if crc32.ChecksumIEEE(raw) != binary.BigEndian.Uint32(head[4:]) {
		return r, 0, errDamaged
	}
	r = record{kind: raw[0], seq: binary.BigEndian.Uint64(raw[1:fixedSize]), rest: raw[fixedSize:], at: at + headSize + fixedSize}
	if r.kind == kindBegun || r.kind == kindEnded {
		if len(r.rest) == 0 || int(r.rest[0]) > len(r.rest)-1 {
			return r, 0, errDamaged
		}
		end := 1 + int(r.rest[0])
		r.jid, r.call = string(r.rest[1:end]), string(r.rest[end:])
	}
	return r, headSize + size, nil
}

func (r record) bytes() []byte {
	rest := r.rest
	if r.kind == kindBegun || r.kind == kindEnded {
		jid := r.jid[:min(len(r.jid), 255)]
		rest = append(append([]byte{byte(len(jid))}, jid...), r.call...)
	}
	out := make([]byte, headSize+fixedSize, headSize+fixedSize+len(rest))
	out[headSize] = r.kind
	binary.BigEndian.PutUint64(out[headSize+1:], r.seq)
	out = append(out, rest...)
	binary.BigEndian.PutUint32(out, uint32(len(out)-headSize))
	binary.BigEndian.PutUint32(out[4:], crc32.ChecksumIEEE(out[headSize:]))
	return out
}

// append writes a record and returns where its rest stands. What was written by halves is written over by the next one.
func (l *log) append(r record) (int64, error) {
	raw := r.bytes()
	if len(raw) > maxRecord {
		return 0, fmt.Errorf("write backlog: a record of %d bytes", len(raw))
	}
	if _, err := l.f.WriteAt(raw, l.size); err != nil {
		return 0, fmt.Errorf("write backlog: %w", err)
	}
	at := l.size + headSize + fixedSize
	l.size += int64(len(raw))
	return at, nil
}

func (l *log) body(at int64, size int) ([]byte, error) {
	out := make([]byte, size)
	if _, err := l.f.ReadAt(out, at); err != nil {
		return nil, fmt.Errorf("read backlog: %w", err)
	}
	return out, nil
}

// empty takes all out of the file, once it is worth it.
func (l *log) empty() {
	if l.size > slack {
		l.cut()
	}
}

func (l *log) cut() {
	if err := l.f.Truncate(0); err == nil { // else it grows on
		l.size = 0
	}
}

// renew makes a new file of the records that fill puts, and takes it in place of this one. Where that fails, this one stays.
func (l *log) renew(fill func(put func(record) (int64, error)) error) bool {
	next, err := os.OpenFile(l.path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return false
	}
	fresh := &log{path: l.path, f: next}
	if err = fill(fresh.append); err == nil {
		err = os.Rename(l.path+".new", l.path)
	}
	if err != nil {
		_ = errors.Join(next.Close(), os.Remove(l.path+".new")) // the old one holds
		return false
	}
	_ = l.f.Close() // it has no name any more
	*l = *fresh
	return true
}

func (l *log) close() error { return l.f.Close() }
