package payload

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMapKeepsOrder(t *testing.T) {
	for _, n := range []int{0, 1, indexFrom - 1, indexFrom, indexFrom + 1, 200} {
		m := &Map{}
		for i := range n {
			m.Set(fmt.Sprint("k", i), i)
		}
		for i := range n { // a second value keeps the position
			m.Set(fmt.Sprint("k", i), -i)
		}
		for i := 0; i < n; i += 2 {
			m.Delete(fmt.Sprint("k", i))
		}
		m.Set("last", "x")
		var want []any
		for i := 1; i < n; i += 2 {
			want = append(want, fmt.Sprint("k", i))
		}
		want = append(want, "last")
		if d := cmp.Diff(want, m.Keys()); d != "" {
			t.Errorf("keys of %d (-want +got):\n%s", n, d)
		}
		if m.Len() != len(want) {
			t.Errorf("Len of %d: got %d, want %d", n, m.Len(), len(want))
		}
		for i := range n {
			v, ok := m.Int(fmt.Sprint("k", i))
			if ok != (i%2 == 1) || ok && v != int64(-i) {
				t.Errorf("n %d: Int(k%d) = %d, %v", n, i, v, ok)
			}
		}
		if c := m.Clone(); !c.Equal(m) || !m.Equal(c) {
			t.Errorf("n %d: clone differs", n)
		}
	}
}

func TestMapDeleteAll(t *testing.T) {
	m := NewMap(0)
	for i := range 1000 {
		m.Set(i, i)
	}
	for i := range 1000 {
		m.Delete(i)
	}
	m.Delete("none")
	if m.Len() != 0 || len(m.Keys()) != 0 {
		t.Errorf("after deleting all: Len %d, keys %v", m.Len(), m.Keys())
	}
	if m.Set("a", 1).Len() != 1 || !m.Has("a") {
		t.Error("a new key is lost")
	}
}

func TestNilMapReadsAsEmpty(t *testing.T) {
	var m *Map
	if m.Len() != 0 || m.Has("x") || m.Str("x") != "" || m.Map("x").Map("y").List("z") != nil || m.Bytes("b") != nil {
		t.Error("nil map is not empty")
	}
	for k := range m.All() {
		t.Errorf("nil map has key %v", k)
	}
	if m.Clone().Len() != 0 || !m.Equal(NewMap(0)) {
		t.Error("clone of nil is not empty")
	}
}

func TestMapCanonical(t *testing.T) {
	type word string
	m := M(5, uint8(7), word("w"), word("v"), Bytes("key"), []string{"a", "b"}, []byte{0xff},
		map[string]int{"z": 1, "a": 2}, "odd")
	want := []any{int64(5), "w", Bytes("key"), Bytes("\xff"), "odd"}
	if d := cmp.Diff(want, m.Keys()); d != "" {
		t.Errorf("keys (-want +got):\n%s", d)
	}
	if n, ok := m.Value(int8(5)).(int64); !ok || n != 7 {
		t.Errorf("under 5: %#v", m.Value(5))
	}
	if d := cmp.Diff(any([]any{"a", "b"}), m.Value([]byte("key"))); d != "" {
		t.Errorf("list (-want +got):\n%s", d)
	}
	if got, ok := m.Value([]byte{0xff}).(*Map); !ok || !got.Equal(M("a", 2, "z", 1)) {
		t.Errorf("go map became %v", m.Value([]byte{0xff}))
	}
	if v, ok := m.Get("odd"); v != nil || !ok {
		t.Errorf("odd key: %v, %v", v, ok)
	}
}
