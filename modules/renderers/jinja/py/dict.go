package py

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// indexFrom is the number of entries from which a Dict has an index.
const indexFrom = 9

// Ordered is the class of dictionaries that print as OrderedDict where Python's str() and repr() are used, and keep the
// order of their keys in the filter yaml.
const Ordered = "OrderedDict"

// Dict is a dictionary: it keeps the order in which its keys were set, and 1, 1.0 and True are one key. Class is
// Ordered for one that prints as such.
type Dict struct {
	Class   string
	entries []dictEntry
	index   map[any]int
	dead    int
}

type dictEntry struct {
	k, v any
	hash any // nil where the entry was deleted
}

type (
	noneKey  struct{}
	bigKey   string
	tupleKey string
)

// hashOf is what two keys share that are equal in Python.
func hashOf(k any) (any, error) {
	switch k := k.(type) {
	case string, int64, Bytes:
		return k, nil
	case nil:
		return noneKey{}, nil
	case Markup:
		return string(k), nil
	case bool:
		if k {
			return int64(1), nil
		}
		return int64(0), nil
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<62 {
			return int64(k), nil
		}
		return k, nil
	case *big.Int:
		return bigKey(k.String()), nil
	case *Tuple:
		return hashTuple(k, 0)
	case *Undefined:
		if k.Lenient {
			return noneKey{}, nil
		}
		return nil, k.Err()
	case *List, *Dict, *Set:
		return nil, typeError("unhashable type: '%s'", TypeName(k))
	}
	return k, nil
}

func hashTuple(t *Tuple, depth int) (any, error) {
	if depth > maxNesting {
		return nil, tooDeep()
	}
	var b strings.Builder
	for _, item := range t.Items {
		var h any
		var err error
		if sub, ok := item.(*Tuple); ok {
			h, err = hashTuple(sub, depth+1)
		} else {
			h, err = hashOf(item)
		}
		if err != nil {
			return nil, err
		}
		text := hashText(h)
		b.WriteString(strconv.Itoa(len(text)))
		b.WriteByte(':')
		b.WriteString(text)
	}
	return tupleKey(b.String()), nil
}

func hashText(h any) string {
	switch h := h.(type) {
	case string:
		return "s" + h
	case int64:
		return "i" + strconv.FormatInt(h, 10)
	case float64:
		return "f" + strconv.FormatFloat(h, 'g', -1, 64)
	case bigKey:
		return "i" + string(h)
	case tupleKey:
		return "t" + string(h)
	case Bytes:
		return "b" + string(h)
	case noneKey:
		return "n"
	}
	return "o"
}

// NewDict makes an empty dictionary.
func NewDict() *Dict { return &Dict{} }

func (d *Dict) find(hash any) int {
	if d.index != nil {
		if i, ok := d.index[hash]; ok {
			return i
		}
		return -1
	}
	for i := range d.entries {
		if d.entries[i].hash == hash {
			return i
		}
	}
	return -1
}

// Set puts v under k.
func (d *Dict) Set(k, v any) error {
	h, err := hashOf(k)
	if err == nil {
		d.put(h, k, v)
	}
	return err
}

// SetStr puts v under a text.
func (d *Dict) SetStr(k string, v any) { d.put(k, k, v) }

func (d *Dict) put(h, k, v any) {
	if i := d.find(h); i >= 0 {
		d.entries[i].v = v
		return
	}
	d.entries = append(d.entries, dictEntry{k, v, h})
	switch {
	case d.index != nil:
		d.index[h] = len(d.entries) - 1
	case len(d.entries) >= indexFrom:
		d.reindex()
	}
}

func (d *Dict) reindex() {
	live := make([]dictEntry, 0, len(d.entries))
	index := make(map[any]int, len(d.entries))
	for _, e := range d.entries {
		if e.hash != nil {
			index[e.hash] = len(live)
			live = append(live, e)
		}
	}
	d.entries, d.index, d.dead = live, index, 0
}

// Get returns the value under k.
func (d *Dict) Get(k any) (any, bool, error) {
	h, err := hashOf(k)
	if err != nil {
		return nil, false, err
	}
	if i := d.find(h); i >= 0 {
		return d.entries[i].v, true, nil
	}
	return nil, false, nil
}

// GetStr returns the value under a text.
func (d *Dict) GetStr(k string) (any, bool) {
	if i := d.find(k); i >= 0 {
		return d.entries[i].v, true
	}
	return nil, false
}

// Delete removes k and returns what was there.
func (d *Dict) Delete(k any) (any, bool, error) {
	h, err := hashOf(k)
	if err != nil {
		return nil, false, err
	}
	i := d.find(h)
	if i < 0 {
		return nil, false, nil
	}
	v := d.entries[i].v
	if d.index == nil {
		d.entries = append(d.entries[:i:i], d.entries[i+1:]...)
		return v, true, nil
	}
	delete(d.index, h)
	d.entries[i] = dictEntry{}
	if d.dead++; d.dead > len(d.entries)/2 {
		d.reindex()
	}
	return v, true, nil
}

// Clear removes everything.
func (d *Dict) Clear() { d.entries, d.index, d.dead = nil, nil, 0 }

// Len is the number of keys.
func (d *Dict) Len() int { return len(d.entries) - d.dead }

// All ranges over keys and values in order. The dictionary must not be changed meanwhile.
func (d *Dict) All() func(yield func(k, v any) bool) {
	return func(yield func(k, v any) bool) {
		for _, e := range d.entries {
			if e.hash != nil && !yield(e.k, e.v) {
				return
			}
		}
	}
}

// Keys returns the keys in order.
func (d *Dict) Keys() []any {
	out := make([]any, 0, d.Len())
	for k := range d.All() {
		out = append(out, k)
	}
	return out
}

// Copy returns a dictionary of the same class with the same entries.
func (d *Dict) Copy() *Dict {
	out := &Dict{Class: d.Class}
	out.Update(d)
	return out
}

// Update sets all keys of another.
func (d *Dict) Update(o *Dict) {
	for _, e := range o.entries {
		if e.hash != nil {
			d.put(e.hash, e.k, e.v)
		}
	}
}

// Set is a set. It keeps the order of its items, which Python does not.
type Set struct{ d Dict }

// NewSet makes a set.
func NewSet(items ...any) (*Set, error) {
	s := &Set{}
	for _, v := range items {
		if err := s.Add(v); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Add puts a value in.
func (s *Set) Add(v any) error {
	h, err := hashOf(v)
	if err == nil && s.d.find(h) < 0 {
		s.d.put(h, v, nil)
	}
	return err
}

// Has says whether v is in the set.
func (s *Set) Has(v any) (bool, error) {
	_, ok, err := s.d.Get(v)
	return ok, err
}

// Items are the values.
func (s *Set) Items() []any { return s.d.Keys() }

// Len is the number of values.
func (s *Set) Len() int { return s.d.Len() }
