package payload_test

import (
	"errors"
	"fmt"
	"testing"

	"brine/wire/payload"
)

// everything is a map with a value of every kind, some of them long.
func everything() *payload.Map {
	long := payload.NewMap(0)
	for i := range 70000 {
		long.Set(fmt.Sprint("key", i), i)
	}
	list := make([]any, 70000)
	return payload.M("nil", nil, "true", true, "false", false, "small", 5, "negative", -3, "u8", 200, "u16", 60000,
		"u32", int64(1<<31), "u64", uint64(1<<63), "i8", -100, "i16", -30000, "i32", -1<<31, "i64", int64(-1<<62),
		"float", 1.5, "text", "abc", "text8", string(make([]byte, 100)), "text16", string(make([]byte, 1000)), "text32",
		string(make([]byte, 70000)), "bin", []byte{0xff}, "bin16", make([]byte, 300), "bin32", make([]byte, 70000),
		"list", []any{1, []any{"x"}}, "list16", make([]any, 20), "list32", list, "map",
		payload.M("a", payload.M("b", 1)), "long", long, "ext", payload.Ext{Type: 5, Data: []byte{1}}, "ext8",
		payload.Ext{Type: 5, Data: []byte{1, 2, 3}}, int64(7), "seven", "last", "end")
}

func TestUnmarshalBinPick(t *testing.T) {
	all := everything()
	packed, err := payload.MarshalBin(all)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := payload.UnmarshalBinMap(packed)
	if err != nil {
		t.Fatal(err)
	}
	for k := range all.All() {
		got, err := payload.UnmarshalBinPick(packed, k, "nobody")
		if err != nil || got.Len() != 1 || !payload.Equal(got.Value(k), whole.Value(k)) {
			t.Errorf("%v: got %d entries, %v", k, got.Len(), err)
		}
	}
	if got, err := payload.UnmarshalBinPick(packed, "nobody"); err != nil || got.Len() != 0 {
		t.Errorf("no such key: %v, %v", got, err)
	}
	for _, b := range [][]byte{nil, {0x05}, {0x81}, {0x81, 0xa1}, {0x81, 0xa1, 'a'}, {0x81, 0xa1, 'a', 0xc1},
		{0x81, 0xa1, 'a', 0xda, 0xff}, {0x80, 0}, {0x81, 0xa1, 'a', 0xdf, 0xff, 0xff, 0xff, 0xff},
		{0x81, 0xa1, 'a', 0xc6, 0xff, 0xff, 0xff, 0xff}, {0x81, 0x80, 0}, packed[:len(packed)-1]} {
		if _, err := payload.UnmarshalBinPick(b, "x"); !errors.Is(err, payload.ErrMalformed) {
			t.Errorf("%.10x: got %v", b, err)
		}
	}
}

// FuzzUnmarshalBinPick: in a readable map, each entry can be picked alone.
func FuzzUnmarshalBinPick(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := payload.UnmarshalBinMap(b)
		if err != nil {
			if _, err := payload.UnmarshalBinPick(b, "id"); err != nil && !errors.Is(err, payload.ErrMalformed) {
				t.Errorf("error of another kind: %v", err)
			}
			return
		}
		for k, v := range m.All() {
			got, err := payload.UnmarshalBinPick(b, k)
			if err != nil || !payload.Equal(got.Value(k), v) {
				t.Errorf("%v: got %v, %v, want %v", k, got, err, v)
			}
		}
	})
}
