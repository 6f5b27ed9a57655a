package payload

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestEncodeGoTypes(t *testing.T) {
	type word string
	day := time.Date(2024, 2, 29, 13, 14, 15, 123456789, time.FixedZone("X", 3600))
	for _, tt := range []struct {
		name string
		v    any
		same any // packs to the same bytes
	}{
		{"int", int(300), int64(300)},
		{"int8", int8(-5), int64(-5)},
		{"uint16", uint16(70), int64(70)},
		{"uint64 small", uint64(5), int64(5)},
		{"float32", float32(1.5), 1.5},
		{"named", word("w"), "w"},
		{"strings", []string{"a"}, []any{"a"}},
		{"ints", []int{1, 2}, []any{int64(1), int64(2)}},
		{"maps", []map[string]any{{"a": 1}}, []any{M("a", 1)}},
		{"go map is sorted", map[string]any{"b": 1, "a": []string{"x"}}, M("a", []any{"x"}, "b", 1)},
		{"int keys", map[int]string{2: "b", 1: "a"}, M(1, "a", 2, "b")},
		{"nil map", (*Map)(nil), NewMap(0)},
		{"nil list", []any(nil), []any{}},
		{"big in range", big.NewInt(-7), int64(-7)},
		{"big 2^64", new(big.Int).Lsh(big.NewInt(1), 64), "18446744073709551616"},
		{"big negative", new(big.Int).Lsh(big.NewInt(-1), 64), "-18446744073709551616"},
		{"time keeps its clock", day, Time{time.Date(2024, 2, 29, 13, 14, 15, 123456000, time.UTC)}},
		{"time in a map", M("t", day), M("t", Time{day})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Marshal(tt.v)
			want, err2 := Marshal(tt.same)
			if err != nil || err2 != nil || !bytes.Equal(got, want) {
				t.Errorf("got %x, %v, want %x, %v", got, err, want, err2)
			}
			if !Equal(tt.v, tt.same) {
				t.Errorf("Equal(%#v, %#v) is false", tt.v, tt.same)
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	cyclic := NewMap(1)
	cyclic.Set("self", cyclic)
	for name, v := range map[string]any{
		"func": func() {}, "chan": make(chan int), "struct": struct{ A int }{}, "inside": []any{M("a", struct{}{})},
		"cyclic": cyclic, "deep": deepList(maxDepth + 1),
	} {
		if b, err := Marshal(v); !errors.Is(err, ErrUnencodable) {
			t.Errorf("%s: packed as %x, %v", name, b, err)
		}
	}
	b, err := Marshal(deepList(maxDepth))
	if err != nil {
		t.Fatalf("nested %d deep: %v", maxDepth, err)
	}
	if _, err := Unmarshal(b); err != nil {
		t.Errorf("nested %d deep: %v", maxDepth, err)
	}
}

func deepList(n int) any {
	var v any
	for range n {
		v = []any{v}
	}
	return v
}

func TestStrThatIsNotUTF8(t *testing.T) {
	b, err := MarshalBin("a\xff")
	if err != nil || !bytes.Equal(b, []byte{0xc4, 2, 'a', 0xff}) {
		t.Errorf("bin rule: got %x, %v", b, err)
	}
	for _, raw := range [][]byte{{0xa2, 'a', 0xff}, {0xd9, 2, 'a', 0xff}, {0xda, 0, 2, 'a', 0xff},
		{0xc4, 2, 'a', 0xff}} {
		for _, read := range []func([]byte) (any, error){Unmarshal, UnmarshalBin} {
			if v, err := read(raw); err != nil || !Equal(v, []byte("a\xff")) {
				t.Errorf("read %x: %#v, %v", raw, v, err)
			}
		}
	}
}

func TestDecodeForms(t *testing.T) {
	for _, tt := range []struct {
		hex  []byte
		want any
	}{
		{[]byte{0xd9, 1, 'a'}, "a"},
		{[]byte{0xdb, 0, 0, 0, 1, 'a'}, "a"},
		{[]byte{0xc4, 1, 'a'}, "a"}, // the wire rule has no bin type
		{[]byte{0xca, 0x3f, 0xc0, 0, 0}, 1.5},
		{[]byte{0xd3, 0, 0, 0, 0, 0, 0, 0, 5}, int64(5)},
		{[]byte{0xcf, 0, 0, 0, 0, 0, 0, 0, 5}, int64(5)},
		{[]byte{0xdd, 0, 0, 0, 1, 0xc0}, []any{nil}},
		{[]byte{0xdf, 0, 0, 0, 1, 1, 2}, M(1, 2)},
		{[]byte{0xd4, 5, 9}, Ext{5, []byte{9}}},
		// not a readable time
		{[]byte{0xd8, 0x4e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, Ext{78, make([]byte, 16)}},
		// the last value wins, the first position stays
		{[]byte{0x83, 0xa1, 'a', 1, 0xa1, 'b', 2, 0xa1, 'a', 3}, M("a", 3, "b", 2)},
		{[]byte{0x81, 0xc0, 1}, M(nil, 1)},
		{[]byte{0x81, 0xa3, 'c', 'm', 'd', 0xa0}, M("cmd", "")},
	} {
		got, err := Unmarshal(tt.hex)
		if err != nil || !Equal(got, tt.want) {
			t.Errorf("Unmarshal(%x): got %#v, %v, want %#v", tt.hex, got, err, tt.want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty": {}, "0xc1": {0xc1}, "trailing": {1, 2}, "short int": {0xcd, 1}, "short raw": {0xa5, 'a'},
		"short ext": {0xc7, 3, 5, 1}, "ext without type": {0xc7, 0}, "half a map": {0x81, 1},
		"key cut": {0x81, 0xa3, 'c', 'm'}, "list key": {0x81, 0x90, 1}, "map key": {0x81, 0x80, 1},
		"ext key": {0x81, 0xd4, 5, 9, 1}, "huge list": {0xdd, 0xff, 0xff, 0xff, 0xff},
		"huge map": {0xdf, 0xff, 0xff, 0xff, 0xff, 1, 1}, "huge raw": {0xdb, 0xff, 0xff, 0xff, 0xff, 'a'},
		"too deep": append(bytes.Repeat([]byte{0x91}, maxDepth+1), 0xc0),
		// the bytes that follow suffice for each header alone, but not for both
		"owed twice": {0x93, 0x93, 1, 1, 1, 1},
	} {
		for _, read := range []func([]byte) (any, error){Unmarshal, UnmarshalBin} {
			if v, err := read(b); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s: read as %#v, %v", name, v, err)
			}
		}
	}
	if _, err := UnmarshalMap([]byte{5}); !errors.Is(err, ErrMalformed) {
		t.Errorf("a number as a map: %v", err)
	}
}

// TestDecodeMemory decodes nested headers that promise much, and the densest valid input.
func TestDecodeMemory(t *testing.T) {
	const size = 1 << 20
	nested := []byte{}
	for range maxDepth {
		nested = binary.BigEndian.AppendUint32(append(nested, 0xdd), size/2)
	}
	nested = append(nested, make([]byte, size)...)
	empties := append(binary.BigEndian.AppendUint32([]byte{0xdd}, size), bytes.Repeat([]byte{0x80}, size)...)
	for name, b := range map[string][]byte{"nested promises": nested, "empty maps": empties} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Unmarshal(b)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 64*uint64(len(b)) {
			t.Errorf("%s: %d bytes claimed for %d, %v", name, got, len(b), err)
		}
	}
	many := append(binary.BigEndian.AppendUint32([]byte{0xdd}, maxValues+1), make([]byte, maxValues+1)...)
	if _, err := Unmarshal(many); !errors.Is(err, ErrMalformed) {
		t.Errorf("%d values: %v", maxValues+1, err)
	}
	few := append(binary.BigEndian.AppendUint32([]byte{0xdd}, maxEnvelopeValues+1),
		make([]byte, maxEnvelopeValues+1)...)
	if _, err := DecodeRequest(few); !errors.Is(err, ErrMalformed) {
		t.Errorf("a request of %d values: %v", maxEnvelopeValues+1, err)
	}
}

func TestDecodeRequestVersion(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want int
	}{
		{nil, 0}, {0, 0}, {2, 2}, {3, 3}, {4, 3}, {-1, 0}, {"2", 2}, {" 3 ", 3}, {"three", 0}, {"99999999999999999999",
			0}, {2.9, 2}, {math.Inf(1), 3}, {math.NaN(), 0}, {true, 1}, {false, 0}, {uint64(math.MaxUint64), 3},
		{[]byte{0xff}, 0},
	} {
		b, err := Marshal(M("enc", "clear", "load", M(), "version", tt.v))
		if err != nil {
			t.Fatal(err)
		}
		if r, err := DecodeRequest(b); err != nil || r.Version != tt.want {
			t.Errorf("version %v: %+v, %v", tt.v, r, err)
		}
	}
	for _, m := range []any{
		5, []any{}, M(), M("enc", "clear"), M("load", M()), M("enc", "clear", "load", M(), "version", M()),
		M("enc", "clear", "load", M(), "version", []any{}),
	} {
		b, err := Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := DecodeRequest(b); !errors.Is(err, ErrEnvelope) || errors.Is(err, ErrMalformed) {
			t.Errorf("%#v: %+v, %v", m, r, err)
		}
	}
}

func TestDecodeRequestFields(t *testing.T) {
	in := Request{Enc: EncAES, Load: []byte("only text"), Version: 3, ID: "m1", EncAlgo: "OAEP-SHA1",
		SigAlgo: "PKCS1v15-SHA1"}
	b, err := in.Encode()
	if err != nil {
		t.Fatal(err)
	}
	r, err := DecodeRequest(b)
	if err != nil {
		t.Fatal(err)
	}
	if load, ok := r.Load.([]byte); !ok || string(load) != "only text" || r.ID != "m1" || r.Raw.Len() != 6 {
		t.Errorf("got %+v", r)
	}
	if _, err := DecodePublication([]byte{0x82, 0xa3, 'e', 'n', 'c', 1, 0xa4, 'l', 'o', 'a', 'd', 5}); !errors.Is(err,
		ErrEnvelope) {
		t.Errorf("publication with a number as load: %v", err)
	}
}

func TestJID(t *testing.T) {
	at := time.Date(2024, 2, 29, 13, 14, 15, 123456789, time.FixedZone("X", -3600))
	if got := NewJID(at); got != "20240229141415123456" {
		t.Errorf("NewJID: %s", got)
	}
	for s, want := range map[string]bool{
		"20240229141415123456": true, "20240229141415123456_77": true, "20240229141415123456_": false, "": false,
		"2024022914141512345": false, "2024022914141512345x": false, "202402291414151234567": false, "req": false,
		"../../../../../../../": false,
	} {
		if IsJID(s) != want {
			t.Errorf("IsJID(%q) = %v", s, !want)
		}
	}
}

func TestEqual(t *testing.T) {
	for _, tt := range []struct {
		a, b any
		want bool
	}{
		{1, int64(1), true}, {1, 1.0, false}, {"a", []byte("a"), false}, {math.NaN(), math.NaN(), true},
		{M("a", 1, "b", 2), M("b", 2, "a", 1), false}, {[]any{1}, []any{1, 2}, false}, {nil, false, false},
		{Ext{1, []byte{1}}, Ext{1, []byte{2}}, false}, {M(), (*Map)(nil), true}, {struct{}{}, struct{}{}, false},
		{strings.Repeat("x", 3), "xxx", true},
	} {
		if Equal(tt.a, tt.b) != tt.want {
			t.Errorf("Equal(%#v, %#v) = %v", tt.a, tt.b, !tt.want)
		}
	}
}
