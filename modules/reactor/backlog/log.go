package backlog

import (
	"encoding/binary"
	"errors"
	"fmt"

	"brine/wire/disk/recordlog"
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
	at        int64 // of the whole record, in a file that is read
}

var errDamaged = errors.New("backlog: damaged")

// parse reads a record; its rest is lent.
func parse(at int64, body []byte) (record, error) {
	if len(body) < fixedSize {
		return record{}, errDamaged
	}
	r := record{kind: body[0], seq: binary.BigEndian.Uint64(body[1:fixedSize]), rest: body[fixedSize:], at: at}
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

// write appends a record to the file and returns where it stands.
func (b *Backlog) write(r record) (int64, error) {
	if len(r.rest) > maxRecord {
		return 0, fmt.Errorf("write backlog: a record of %d bytes", len(r.rest))
	}
	at, err := b.log.Append(false, r.pack)
	if err != nil {
		return 0, fmt.Errorf("write backlog: %w", err)
	}
	return at, nil
}

// bodyOf is the body of an event.
func (b *Backlog) bodyOf(e *entry) ([]byte, error) {
	if e.at < 0 {
		return e.body, nil
	}
	raw, err := b.log.Read(e.at, fixedSize+e.size)
	if err != nil {
		return nil, fmt.Errorf("read backlog: %w", err)
	}
	return raw[fixedSize:], nil
}

// renew writes the file anew, with what is not done with. Where that fails, the old one stays.
func (b *Backlog) renew() {
	fill, moved := b.rest()
	_ = b.log.Rewrite(fill, moved)
}

// rest puts what is not done with into a new file, and takes over where that stands.
func (b *Backlog) rest() (fill recordlog.Contents, moved func()) {
	at := make(map[*entry]int64, len(b.entries))
	return func(put func(recordlog.Body) (int64, error)) error {
			for _, seq := range b.seqs() {
				e := b.entries[seq]
				body, err := b.bodyOf(e)
				if err != nil {
					return err
				}
				if at[e], err = put(record{kind: kindEvent, seq: seq, rest: body}.pack); err != nil {
					return err
				}
				for call, n := range e.begun {
					if _, err := put(record{kind: n.kind(), seq: seq, call: call, jid: n.jid}.pack); err != nil {
						return err
					}
				}
			}
			return nil
		}, func() {
			for e, where := range at {
				if e.at < 0 {
					b.memory -= int64(e.size)
				}
				e.at, e.body = where, nil
			}
		}
}
