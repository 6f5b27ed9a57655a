package payload

import (
	"bytes"
	"math"
	"math/big"
	"time"
)

// Codes of the two ext types that Salt uses (salt/payload.py, ext_type_encoder).
const (
	extTime     = 78 // date and time as text
	extConstant = 79 // one of Salt's internal constants, packed [name, value]
)

// timeLayout is the content of ext 78: 24 ASCII characters, microseconds, no zone.
const timeLayout = "20060102T15:04:05.000000"

// Bytes is a map key that is a byte string: with the wire rule a key that is not UTF-8, with the bin rule any key of
// bin type. As a value it is packed like []byte.
type Bytes string

// Set is a set as in YAML (!!set). It keeps the order of its items and is packed as a list, as Salt packs it. No
// decoder makes one.
type Set []any

// Time is a date and time without a zone, as Salt packs it in ext 78. The embedded time is in UTC.
type Time struct{ time.Time }

// Ext is an ext value that is not a readable Time. Salt's own constants are type 79 and hold [name, value], packed with
// the bin rule.
type Ext struct {
	Type int8
	Data []byte
}

// Canon turns the Go types that encoders accept into the vocabulary of this package, at every depth: int becomes int64,
// []string becomes []any, map[string]any becomes *Map in key order. Lists and maps are copied. Other values of the
// vocabulary, and unknown types, are returned unchanged.
func Canon(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Canon(e)
		}
		return out
	case Set:
		return Set(Canon([]any(v)).([]any))
	case *Map:
		if v == nil {
			return NewMap(0)
		}
		out := NewMap(v.Len())
		for k, e := range v.All() {
			out.Set(k, Canon(e))
		}
		return out
	}
	return canon(v)
}

// canon is Canon for values other than []any and *Map. It returns these two unchanged, which makes it cheap enough for
// every Set.
func canon(v any) any {
	switch v := v.(type) {
	case nil, string, bool, int64, float64, []byte, []any, *Map, Set, Time, Ext:
		return v
	case int:
		return int64(v)
	case uint64:
		return canonUint(v)
	case time.Time:
		return naive(v)
	case Bytes:
		return []byte(v)
	case *big.Int:
		return canonBig(v)
	}
	return canonReflect(v)
}

func canonUint(v uint64) any {
	if v <= math.MaxInt64 {
		return int64(v)
	}
	return v
}

// canonBig keeps numbers that msgpack can hold and turns others into text, as Salt does from 2^64 up.
func canonBig(v *big.Int) any {
	switch {
	case v == nil:
		return nil
	case v.IsInt64():
		return v.Int64()
	case v.IsUint64():
		return v.Uint64()
	}
	return v.String()
}

// naive keeps the clock reading and drops the zone, as Python's strftime does.
func naive(t time.Time) Time {
	return Time{time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)}
}

// Equal reports whether two values are the same: same types, same content, maps with the same keys in the same order.
// NaN equals NaN. Both values may have any type that encoders accept.
func Equal(a, b any) bool {
	a, b = canon(a), canon(b)
	switch a := a.(type) {
	case *Map:
		b, ok := b.(*Map)
		return ok && a.Equal(b)
	case []any:
		b, ok := b.([]any)
		return ok && equalLists(a, b)
	case Set:
		b, ok := b.(Set)
		return ok && equalLists(a, b)
	case []byte:
		b, ok := b.([]byte)
		return ok && bytes.Equal(a, b)
	case Ext:
		b, ok := b.(Ext)
		return ok && a.Type == b.Type && bytes.Equal(a.Data, b.Data)
	case Time:
		b, ok := b.(Time)
		return ok && a.Format(timeLayout) == b.Format(timeLayout)
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || math.IsNaN(a) && math.IsNaN(b))
	case nil, bool, int64, uint64, string:
		return a == b
	}
	return false
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}
