package payload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"
)

const (
	// MaxFrame is the size of the largest message that is read, in bytes. Salt itself has no limit.
	MaxFrame = 128 << 20

	// loadDepth is the deepest nesting of lists and maps in a load; Salt's packer stops at 511.
	loadDepth = 512
	// loadValues is the largest number of values in a load, so that a small message cannot take unlimited memory.
	loadValues = 16 << 20

	// maxDepth and maxValues are the limits for everything else, in both directions: a received load can be put into a
	// larger value, packed, and read again.
	maxDepth  = loadDepth + 64
	maxValues = loadValues + 1<<20
)

// ErrMalformed means that bytes are not one msgpack value: truncated, an unknown type, bytes left over, nested too
// deeply, a container as a map key, or more values than any peer sends.
var ErrMalformed = errors.New("payload: malformed msgpack")

// Unmarshal reads one value with the wire rule: every string that is valid UTF-8 becomes text, any other becomes
// []byte. It must consume the whole of b; the result shares no memory with b. It allocates only memory that b can fill:
// at most some 60 bytes per byte of b, and about 2 for usual loads.
func Unmarshal(b []byte) (any, error) { return decode(b, decoder{left: maxValues, deepest: maxDepth}) }

// sharedFrom is the length from which UnmarshalShared does not copy a text, in bytes.
const sharedFrom = 4096

// UnmarshalShared is Unmarshal for large answers that are soon discarded: a text of 4 KiB or more, UTF-8 or not,
// becomes a []byte that shares the memory of b.
func UnmarshalShared(b []byte) (any, error) {
	return decode(b, decoder{share: true, left: maxValues, deepest: maxDepth})
}

// UnmarshalLoad is Unmarshal for requests of peers. Its limits are lower than those of packing and reading: its result
// can be nested 64 levels deeper, be joined by a million values, and still be packed and read again.
func UnmarshalLoad(b []byte) (any, error) {
	return decode(b, decoder{left: loadValues, deepest: loadDepth})
}

// UnmarshalBin reads one value with the bin rule: str becomes text, bin becomes []byte. A str that is not UTF-8 becomes
// []byte too, because all our strings are UTF-8.
func UnmarshalBin(b []byte) (any, error) {
	return decode(b, decoder{bin: true, left: maxValues, deepest: maxDepth})
}

// UnmarshalMap is Unmarshal for a value that must be a map.
func UnmarshalMap(b []byte) (*Map, error) {
	return asMap(Unmarshal(b))
}

// UnmarshalBinMap is UnmarshalBin for a value that must be a map.
func UnmarshalBinMap(b []byte) (*Map, error) {
	return asMap(UnmarshalBin(b))
}

func asMap(v any, err error) (*Map, error) {
	if err != nil {
		return nil, err
	}
	m, ok := v.(*Map)
	if !ok {
		return nil, fmt.Errorf("%w: not a map", ErrMalformed)
	}
	return m, nil
}

// decode reads b with a decoder that has only its limits and options set.
func decode(b []byte, d decoder) (any, error) {
	d.b = b
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	if len(d.b) > 0 {
		return nil, malformed("bytes after the value")
	}
	return v, nil
}

// decoder reads from the front of b. owed counts the values that open containers still lack. Each of them takes at
// least one byte, so a header that promises more values than b can hold is refused before memory is allocated for it.
type decoder struct {
	b   []byte
	bin bool
	// share makes large texts slices of b.
	share bool
	owed  int64
	left  int // how many more values may come

	deepest int // the deepest nesting
}

func malformed(what string) error { return fmt.Errorf("%w: %s", ErrMalformed, what) }

var errTruncated = malformed("truncated")

// value reads one value. Lead bytes below 0xc0 and from 0xe0 contain the value or its length.
func (d *decoder) value(depth int) (any, error) {
	if len(d.b) == 0 {
		return nil, errTruncated
	}
	c := d.b[0]
	d.b = d.b[1:]
	switch {
	case c < 0x80:
		return int64(c), nil
	case c < 0x90:
		return d.mapping(int64(c&0x0f), depth+1)
	case c < 0xa0:
		return d.list(int64(c&0x0f), depth+1)
	case c < 0xc0:
		return d.text(int64(c & 0x1f))
	case c >= 0xe0:
		return int64(int8(c)), nil
	}
	return d.long(c, depth)
}

// long reads the value after a lead byte from 0xc0 to 0xdf.
func (d *decoder) long(c byte, depth int) (any, error) {
	switch c {
	case 0xc0:
		return nil, nil
	case 0xc2:
		return false, nil
	case 0xc3:
		return true, nil
	case 0xc1:
		return nil, malformed("lead byte 0xc1")
	}
	if c >= 0xd4 && c <= 0xd8 {
		return d.ext(1 << (c - 0xd4))
	}
	n, err := d.number(leadWidth(c))
	if err != nil {
		return nil, err
	}
	switch c {
	case 0xc4, 0xc5, 0xc6:
		return d.binary(int64(n))
	case 0xc7, 0xc8, 0xc9:
		return d.ext(int64(n))
	case 0xca:
		return float64(math.Float32frombits(uint32(n))), nil
	case 0xcb:
		return math.Float64frombits(n), nil
	case 0xcc, 0xcd, 0xce, 0xcf:
		return canonUint(n), nil
	case 0xd0:
		return int64(int8(n)), nil
	case 0xd1:
		return int64(int16(n)), nil
	case 0xd2:
		return int64(int32(n)), nil
	case 0xd3:
		return int64(n), nil
	case 0xd9, 0xda, 0xdb:
		return d.text(int64(n))
	case 0xdc, 0xdd:
		return d.list(int64(n), depth+1)
	}
	return d.mapping(int64(n), depth+1)
}

// leadWidth is the size of the number after a lead byte: the value itself, or a length.
func leadWidth(c byte) int {
	switch c {
	case 0xc4, 0xc7, 0xcc, 0xd0, 0xd9:
		return 1
	case 0xc5, 0xc8, 0xcd, 0xd1, 0xda, 0xdc, 0xde:
		return 2
	case 0xc6, 0xc9, 0xca, 0xce, 0xd2, 0xdb, 0xdd, 0xdf:
		return 4
	}
	return 8 // 0xcb, 0xcf, 0xd3
}

func (d *decoder) number(width int) (uint64, error) {
	b, err := d.take(int64(width))
	if err != nil {
		return 0, err
	}
	switch width {
	case 1:
		return uint64(b[0]), nil
	case 2:
		return uint64(binary.BigEndian.Uint16(b)), nil
	case 4:
		return uint64(binary.BigEndian.Uint32(b)), nil
	}
	return binary.BigEndian.Uint64(b), nil
}

func (d *decoder) take(n int64) ([]byte, error) {
	if n > int64(len(d.b)) {
		return nil, errTruncated
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b, nil
}

func (d *decoder) text(n int64) (any, error) {
	b, err := d.take(n)
	switch {
	case err != nil:
		return nil, err
	case n == 0:
		return "", nil
	case d.share && n >= sharedFrom:
		return b[:n:n], nil
	case utf8.Valid(b):
		return string(b), nil
	}
	return append([]byte(nil), b...), nil
}

func (d *decoder) binary(n int64) (any, error) {
	if !d.bin {
		return d.text(n)
	}
	b, err := d.take(n)
	return append(make([]byte, 0, len(b)), b...), err
}

// claim checks that n more values can follow, and counts them.
func (d *decoder) claim(n int64, depth int) error {
	switch {
	case depth > d.deepest:
		return malformed("nested too deeply")
	case n+d.owed > int64(len(d.b)):
		return errTruncated
	case n > int64(d.left):
		return malformed("too many values")
	}
	d.owed += n
	d.left -= int(n)
	return nil
}

func (d *decoder) list(n int64, depth int) (any, error) {
	if err := d.claim(n, depth); err != nil {
		return nil, err
	}
	out := make([]any, n)
	for i := range out {
		d.owed--
		v, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (d *decoder) mapping(n int64, depth int) (any, error) {
	if err := d.claim(2*n, depth); err != nil {
		return nil, err
	}
	m := NewMap(int(n))
	for range n {
		d.owed--
		k, err := d.key(depth)
		if err != nil {
			return nil, err
		}
		d.owed--
		v, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		m.put(k, v)
	}
	return m, nil
}

// key reads a map key. The usual field names of loads need no memory.
func (d *decoder) key(depth int) (any, error) {
	if len(d.b) > 0 {
		if c := d.b[0]; c&0xe0 == 0xa0 && int(c&0x1f) < len(d.b) {
			n := int(c & 0x1f)
			if k := knownKey(d.b[1 : 1+n]); k != nil {
				d.b = d.b[1+n:]
				return k, nil
			}
		}
	}
	k, err := d.value(depth)
	switch k := k.(type) {
	case []byte:
		return Bytes(k), err
	case *Map, []any, Ext:
		return nil, malformed("a map key that is a container")
	}
	return k, err
}

func (d *decoder) ext(n int64) (any, error) {
	b, err := d.take(n + 1)
	if err != nil {
		return nil, err
	}
	typ, data := int8(b[0]), b[1:]
	if typ == extTime && n == int64(len(timeLayout)) {
		if t, err := time.Parse(timeLayout, string(data)); err == nil && t.Format(timeLayout) == string(data) {
			return Time{t}, nil
		}
	}
	return Ext{typ, append([]byte(nil), data...)}, nil
}
