package ledger

import (
	"encoding/binary"
	"errors"
)

// errCodec means that bytes are no facts.
var errCodec = errors.New("facts: malformed")

// Facts that are many travel and are stored as bytes: for each that is known
//
//	tag (1 byte: place in its table << 2 | form) | value
//
// where form is how long the value is, so that a reader passes over what it does not know. A table only grows at its
// end.
const (
	formNumber = 0 // zigzag varint
	formText   = 1 // length as a varint, bytes
	formYes    = 2 // nothing
)

// placeMinion is the place of what the minion says among the facts of a row.
const placeMinion = 63

// appendFields writes what is known of v.
func appendFields[T any](dst []byte, fields []field[T], v *T) []byte {
	for i, f := range fields {
		tag := byte(i << 2)
		switch {
		case f.stamp != nil && *f.stamp(v) != 0:
			dst = binary.AppendVarint(append(dst, tag|formNumber), int64(*f.stamp(v)))
		case f.num != nil && *f.num(v) != 0:
			dst = binary.AppendVarint(append(dst, tag|formNumber), *f.num(v))
		case f.text != nil && *f.text(v) != "":
			dst = appendText(append(dst, tag|formText), *f.text(v))
		case f.yes != nil && *f.yes(v):
			dst = append(dst, tag|formYes)
		}
	}
	return dst
}

func appendText(dst []byte, text string) []byte {
	text = text[:min(len(text), maxText)]
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// decodeFields reads what appendFields wrote. extra gets texts that are in no table; nil: they are passed over.
func decodeFields[T any](b []byte, fields []field[T], v *T, extra func(place int, text []byte) error) error {
	for len(b) > 0 {
		place, form := int(b[0]>>2), b[0]&3
		b = b[1:]
		var f field[T]
		if place < len(fields) {
			f = fields[place]
		}
		switch form {
		case formNumber:
			n, size := binary.Varint(b)
			if size <= 0 {
				return errCodec
			}
			b = b[size:]
			if f.stamp != nil {
				*f.stamp(v) = Stamp(n)
			} else if f.num != nil {
				*f.num(v) = n
			}
		case formText:
			n, size := binary.Uvarint(b)
			if size <= 0 || n > uint64(len(b)-size) {
				return errCodec
			}
			text := b[size : size+int(n)]
			b = b[size+int(n):]
			if f.text != nil {
				*f.text(v) = string(text[:min(len(text), maxText)])
			} else if extra != nil {
				if err := extra(place, text); err != nil {
					return err
				}
			}
		case formYes:
			if f.yes != nil {
				*f.yes(v) = true
			}
		default:
			return errCodec
		}
	}
	return nil
}

// Pack is what a minion says as bytes.
func (m *Minion) Pack() []byte { return appendFields(make([]byte, 0, 96), minionFields, m) }

// UnpackMinion reads what Pack made. Bytes that are none are an error.
func UnpackMinion(b []byte) (*Minion, error) {
	m := &Minion{}
	if err := decodeFields(b, minionFields, m, nil); err != nil {
		return nil, err
	}
	return m, nil
}

func (r *Row) pack(dst []byte) []byte {
	dst = appendFields(dst, rowFields, r)
	if r.Minion == nil {
		return dst
	}
	said := r.Minion.Pack()
	dst = binary.AppendUvarint(append(dst, placeMinion<<2|formText), uint64(len(said)))
	return append(dst, said...)
}

func unpackRow(b []byte) (*Row, error) {
	r := &Row{}
	err := decodeFields(b, rowFields, r, func(place int, text []byte) (err error) {
		if place == placeMinion {
			r.Minion, err = UnpackMinion(text)
		}
		return err
	})
	return r, err
}
