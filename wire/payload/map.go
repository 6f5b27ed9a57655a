package payload

import "iter"

// indexFrom is the number of entries from which a Map keeps a hash index; for fewer entries a scan is faster.
const indexFrom = 16

// Map is a map that keeps the order in which its keys were first set, like a Python dict. Keys are text in practice;
// any scalar works. The zero value is ready for use; a nil *Map reads as empty. Any number of goroutines may read a Map
// while none writes it.
type Map struct {
	entries []entry
	index   *index // nil, or with a nil pos, while there are few entries
}

type entry struct{ k, v any }

// index finds entries of a big Map. A deleted entry stays in place as a gap until more than half of the entries are
// gaps.
type index struct {
	pos     map[any]int // nil while there are few entries
	gaps    int
	ordered bool // see Map.Ordered
}

// fewOrdered is the index of every ordered Map with few entries. It is never written.
var fewOrdered = &index{ordered: true}

// gap is the key of a deleted entry in an indexed Map.
type gap struct{}

// NewMap returns an empty Map with capacity for n entries.
func NewMap(n int) *Map {
	m := &Map{}
	m.grow(n)
	return m
}

// M makes a Map of alternating keys and values: M("jid", jid, "tgt", "*"). A last key without a value gets nil.
func M(kv ...any) *Map {
	m := NewMap((len(kv) + 1) / 2)
	for i := 0; i < len(kv); i += 2 {
		var v any
		if i+1 < len(kv) {
			v = kv[i+1]
		}
		m.Set(kv[i], v)
	}
	return m
}

func (m *Map) grow(n int) {
	if n > 0 {
		m.entries = make([]entry, 0, n)
	}
	if n >= indexFrom {
		m.index = &index{pos: make(map[any]int, n)}
	}
}

// indexed tells whether the Map has a hash index.
func (m *Map) indexed() bool { return m.index != nil && m.index.pos != nil }

// Ordered tells whether the Map stands for an OrderedDict of Python, as a YAML renderer makes it. Some of Salt's
// printers keep the order of such a map and sort the keys of others. As in Salt, msgpack does not carry this property.
func (m *Map) Ordered() bool { return m != nil && m.index != nil && m.index.ordered }

// AsOrdered marks the Map itself as ordered and returns it. Clone keeps the mark.
func (m *Map) AsOrdered() *Map {
	if m.indexed() {
		m.index.ordered = true
	} else {
		m.index = fewOrdered
	}
	return m
}

// find returns the position of a canonical key, or -1.
func (m *Map) find(k any) int {
	if m == nil {
		return -1
	}
	if m.indexed() {
		if i, ok := m.index.pos[k]; ok {
			return i
		}
		return -1
	}
	if s, ok := k.(string); ok {
		return m.findText(s)
	}
	for i := range m.entries {
		if m.entries[i].k == k {
			return i
		}
	}
	return -1
}

func (m *Map) findText(s string) int {
	for i := range m.entries {
		if t, ok := m.entries[i].k.(string); ok && t == s {
			return i
		}
	}
	return -1
}

// put sets a canonical key.
func (m *Map) put(k, v any) {
	if i := m.find(k); i >= 0 {
		m.entries[i].v = v
		return
	}
	m.entries = append(m.entries, entry{k, v})
	switch {
	case m.indexed():
		m.index.pos[k] = len(m.entries) - 1
	case len(m.entries) >= indexFrom:
		m.reindex()
	}
}

// reindex drops the gaps and builds the index anew.
func (m *Map) reindex() {
	live := m.entries[:0]
	pos := make(map[any]int, len(m.entries))
	for _, e := range m.entries {
		if e.k != (gap{}) {
			pos[e.k] = len(live)
			live = append(live, e)
		}
	}
	clear(m.entries[len(live):])
	m.entries, m.index = live, &index{pos: pos, ordered: m.Ordered()}
}

// Set puts v under k and returns m, so that calls can be chained. An existing key keeps its position. Numbers, typed
// slices and Go maps are stored in canonical form (see Canon): Set("n", 5) holds int64(5).
func (m *Map) Set(k, v any) *Map {
	m.put(canonKey(k), canon(v))
	return m
}

// Get returns the value under k and whether there is one.
func (m *Map) Get(k any) (any, bool) {
	i := m.find(canonKey(k))
	if i < 0 {
		return nil, false
	}
	return m.entries[i].v, true
}

// Delete removes k. It must not be called while ranging over All.
func (m *Map) Delete(k any) {
	i := m.find(canonKey(k))
	if i < 0 {
		return
	}
	if !m.indexed() {
		copy(m.entries[i:], m.entries[i+1:])
		m.entries[len(m.entries)-1] = entry{}
		m.entries = m.entries[:len(m.entries)-1]
		return
	}
	delete(m.index.pos, m.entries[i].k)
	m.entries[i] = entry{k: gap{}}
	if m.index.gaps++; m.index.gaps > len(m.entries)/2 {
		m.reindex()
	}
}

// Has reports whether k is present.
func (m *Map) Has(k any) bool { return m.find(canonKey(k)) >= 0 }

// Len is the number of keys.
func (m *Map) Len() int {
	switch {
	case m == nil:
		return 0
	case m.indexed():
		return len(m.entries) - m.index.gaps
	}
	return len(m.entries)
}

// All ranges over keys and values in order.
func (m *Map) All() iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		if m == nil {
			return
		}
		for _, e := range m.entries {
			if e.k != (gap{}) && !yield(e.k, e.v) {
				return
			}
		}
	}
}

// Keys returns the keys in order.
func (m *Map) Keys() []any {
	out := make([]any, 0, m.Len())
	for k := range m.All() {
		out = append(out, k)
	}
	return out
}

// Clone returns a copy that shares its values with m.
func (m *Map) Clone() *Map {
	out := NewMap(m.Len())
	if m.Ordered() {
		out.AsOrdered()
	}
	out.Update(m)
	return out
}

// Update sets every key of other in m.
func (m *Map) Update(other *Map) {
	for k, v := range other.All() {
		m.put(k, v)
	}
}

// Equal reports whether both maps hold equal values under the same keys in the same order.
func (m *Map) Equal(other *Map) bool {
	if m.Len() != other.Len() {
		return false
	}
	keys := other.Keys()
	for k, v := range m.All() {
		if !Equal(k, keys[0]) || !Equal(v, other.Value(k)) {
			return false
		}
		keys = keys[1:]
	}
	return true
}
