package payload

import "math"

// Value returns the value under k, or nil.
func (m *Map) Value(k any) any {
	v, _ := m.Get(k)
	return v
}

// field is Get for a text key; it allocates no memory for the key.
func (m *Map) field(k string) (any, bool) {
	if m == nil {
		return nil, false
	}
	i := -1
	if !m.indexed() {
		i = m.findText(k)
	} else if at, ok := m.index.pos[k]; ok {
		i = at
	}
	if i < 0 {
		return nil, false
	}
	return m.entries[i].v, true
}

// Str returns the text under k, or "" if the value is missing or not a text.
func (m *Map) Str(k string) string {
	v, _ := m.field(k)
	s, _ := v.(string)
	return s
}

// Int returns the integer under k, and whether there is one that fits.
func (m *Map) Int(k string) (int64, bool) {
	v, _ := m.field(k)
	switch v := v.(type) {
	case int64:
		return v, true
	case uint64:
		return int64(v), v <= math.MaxInt64
	}
	return 0, false
}

// Bool reports whether the value under k is true.
func (m *Map) Bool(k string) bool {
	v, _ := m.field(k)
	b, _ := v.(bool)
	return b
}

// Map returns the map under k, or nil (which reads as empty).
func (m *Map) Map(k string) *Map {
	v, _ := m.field(k)
	inner, _ := v.(*Map)
	return inner
}

// List returns the list under k, or nil.
func (m *Map) List(k string) []any {
	v, _ := m.field(k)
	list, _ := v.([]any)
	return list
}

// Bytes returns the text or bytes under k as bytes. With the wire rule this is the only way to read a binary field.
func (m *Map) Bytes(k string) []byte {
	v, _ := m.field(k)
	return AsBytes(v)
}

// AsBytes returns text or bytes as bytes, and nil for anything else.
func AsBytes(v any) []byte {
	switch v := v.(type) {
	case []byte:
		return v
	case string:
		return []byte(v)
	case Bytes:
		return []byte(v)
	}
	return nil
}
