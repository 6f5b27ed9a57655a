package payload

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/tinylib/msgp/msgp"
)

// ErrUnencodable means that a value has no msgpack form, or is nested too deeply.
var ErrUnencodable = errors.New("payload: value cannot be packed")

// Marshal packs v with the wire rule: old raw strings, no bin, no str8.
func Marshal(v any) ([]byte, error) { return Append(make([]byte, 0, 512), v) }

// MarshalBin packs v with the bin rule: text as str, []byte as bin.
func MarshalBin(v any) ([]byte, error) { return AppendBin(make([]byte, 0, 512), v) }

// Append packs v with the wire rule and appends it to dst.
func Append(dst []byte, v any) ([]byte, error) { return encoder{dst, false, maxDepth}.run(v) }

// AppendBin packs v with the bin rule and appends it to dst.
func AppendBin(dst []byte, v any) ([]byte, error) { return encoder{dst, true, maxDepth}.run(v) }

// MarshalLoad is Marshal for requests: it refuses nesting that UnmarshalLoad would refuse.
func MarshalLoad(v any) ([]byte, error) {
	return encoder{make([]byte, 0, 512), false, loadDepth}.run(v)
}

// MarshalBinLoad is MarshalBin for a value that will later be sent in a request.
func MarshalBinLoad(v any) ([]byte, error) {
	return encoder{make([]byte, 0, 512), true, loadDepth}.run(v)
}

// Filled is a text of N bytes, such as a piece of a file, that is too large to copy: the encoder reads it directly into
// its output. Only the wire rule knows it. Fill is called once with N bytes of memory; its error ends the packing. All
// other functions of this package refuse such values.
type Filled struct {
	N    int
	Fill func(room []byte) error
}

// besideFilled is room for what a box adds to a Filled, so that memory is allocated once.
const besideFilled = 1024

// encoder appends to b.
type encoder struct {
	b       []byte
	bin     bool
	deepest int // the deepest nesting
}

func (e encoder) run(v any) ([]byte, error) {
	err := e.value(v, 0)
	return e.b, err
}

// value packs one value. The common types come first.
func (e *encoder) value(v any, depth int) error {
	switch v := v.(type) {
	case string:
		e.text(v)
	case int64:
		e.int(v)
	case *Map:
		return e.mapping(v, depth+1)
	case []any:
		return e.list(v, depth+1)
	case bool:
		e.b = msgp.AppendBool(e.b, v)
	case nil:
		e.b = msgp.AppendNil(e.b)
	case float64:
		e.b = msgp.AppendFloat64(e.b, v)
	case []byte:
		e.bytes(v)
	case int:
		e.int(int64(v))
	case uint64:
		e.b = msgp.AppendUint64(e.b, v)
	default:
		return e.rare(v, depth)
	}
	return nil
}

func (e *encoder) rare(v any, depth int) error {
	switch v := v.(type) {
	case Bytes:
		e.bytes([]byte(v))
	case Set:
		return e.list(v, depth+1)
	case Time:
		e.time(v.Time)
	case time.Time:
		e.time(v)
	case Ext:
		e.ext(v.Type, v.Data)
	case *Filled:
		return e.filled(v)
	default:
		c := canon(v)
		switch c.(type) {
		case nil, bool, int64, uint64, float64, string, []byte, []any, *Map:
			return e.value(c, depth)
		}
		return fmt.Errorf("%w: %T", ErrUnencodable, v)
	}
	return nil
}

// int packs the shortest form; Salt uses the unsigned forms for positive numbers.
func (e *encoder) int(v int64) {
	if v >= 0 {
		e.b = msgp.AppendUint64(e.b, uint64(v))
		return
	}
	e.b = msgp.AppendInt64(e.b, v)
}

func (e *encoder) text(s string) {
	switch {
	case !e.bin:
		e.rawHeader(len(s))
		e.b = append(e.b, s...)
	case !utf8.ValidString(s): // Salt's strict readers fail at a str that is not UTF-8
		e.b = msgp.AppendBytes(e.b, []byte(s))
	default:
		e.b = msgp.AppendString(e.b, s)
	}
}

func (e *encoder) bytes(b []byte) {
	if e.bin {
		e.b = msgp.AppendBytes(e.b, b)
		return
	}
	e.rawHeader(len(b))
	e.b = append(e.b, b...)
}

func (e *encoder) filled(v *Filled) error {
	if e.bin {
		return fmt.Errorf("%w: what is read when it is packed, by the bin rule", ErrUnencodable)
	}
	e.b = slices.Grow(e.b, v.N+besideFilled)
	e.rawHeader(v.N)
	at := len(e.b)
	e.b = e.b[:at+v.N]
	return v.Fill(e.b[at:])
}

func (e *encoder) rawHeader(n int) { e.b = AppendRawHead(e.b, n) }

// AppendRawHead writes the head of n bytes of the old raw type: fixraw, raw16, raw32, never str8. With n bytes after
// it, the result is the same as that of Append.
func AppendRawHead(dst []byte, n int) []byte {
	switch {
	case n < 32:
		return append(dst, 0xa0|byte(n))
	case n <= 0xffff:
		return append(dst, 0xda, byte(n>>8), byte(n))
	}
	return append(dst, 0xdb, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

func (e *encoder) list(v []any, depth int) error {
	if depth > e.deepest {
		return fmt.Errorf("%w: nested deeper than %d", ErrUnencodable, e.deepest)
	}
	e.b = msgp.AppendArrayHeader(e.b, uint32(len(v)))
	for _, x := range v {
		if err := e.value(x, depth); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) mapping(m *Map, depth int) error {
	if depth > e.deepest {
		return fmt.Errorf("%w: nested deeper than %d", ErrUnencodable, e.deepest)
	}
	e.b = msgp.AppendMapHeader(e.b, uint32(m.Len()))
	if m == nil {
		return nil
	}
	for i := range m.entries {
		x := &m.entries[i]
		if s, ok := x.k.(string); ok {
			e.text(s)
		} else if x.k == (gap{}) {
			continue
		} else if err := e.value(x.k, depth); err != nil {
			return err
		}
		if err := e.value(x.v, depth); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) time(t time.Time) { e.ext(extTime, []byte(t.Format(timeLayout))) }

func (e *encoder) ext(typ int8, data []byte) {
	n := len(data)
	switch {
	case n == 1 || n == 2 || n == 4 || n == 8 || n == 16:
		e.b = append(e.b, fixExtLead(n))
	case n <= 0xff:
		e.b = append(e.b, 0xc7, byte(n))
	case n <= 0xffff:
		e.b = append(e.b, 0xc8, byte(n>>8), byte(n))
	default:
		e.b = append(e.b, 0xc9, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	e.b = append(e.b, byte(typ))
	e.b = append(e.b, data...)
}

func fixExtLead(n int) byte {
	lead := byte(0xd4)
	for ; n > 1; n /= 2 {
		lead++
	}
	return lead
}
