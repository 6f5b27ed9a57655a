package payload_test

import (
	"bytes"
	"errors"
	"testing"

	"brine/wire/payload"
)

// nested is a value n containers deep, as bytes.
func nested(n int) []byte { return append(bytes.Repeat([]byte{0x91}, n), 0xc0) }

// deepest is the deepest nesting that a reader accepts.
func deepest(read func([]byte) (any, error)) int {
	n := 0
	for {
		if _, err := read(nested(n + 1)); err != nil {
			return n
		}
		n++
	}
}

// TestLoadFits: a load that was read can be nested 64 containers deeper, packed by both rules, and read again. Any
// packed value can be read, and a packed load can be read as a load.
func TestLoadFits(t *testing.T) {
	n := deepest(payload.UnmarshalLoad)
	if n < 511 {
		t.Errorf("a load may be %d deep; Salt packs 511", n)
	}
	v, err := payload.UnmarshalLoad(nested(n))
	if err != nil {
		t.Fatal(err)
	}
	for range 64 {
		v = payload.M("load", v)
	}
	for _, way := range []struct {
		pack func(any) ([]byte, error)
		read func([]byte) (any, error)
	}{{payload.Marshal, payload.Unmarshal}, {payload.MarshalBin, payload.UnmarshalBin}} {
		b, err := way.pack(v)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := way.read(b); err != nil || !payload.Equal(again, v) {
			t.Errorf("read again: %v", err)
		}
		most := deepest(way.read)
		if v, err = way.read(nested(most)); err != nil {
			t.Fatal(err)
		}
		if _, err := way.pack(v); err != nil {
			t.Errorf("%d deep: %v", most, err)
		}
		if _, err := way.pack([]any{v}); !errors.Is(err, payload.ErrUnencodable) {
			t.Errorf("%d deep: %v", most+1, err)
		}
	}
	for _, pack := range []func(any) ([]byte, error){payload.MarshalLoad, payload.MarshalBinLoad} {
		v, err := payload.UnmarshalLoad(nested(n))
		if err == nil {
			_, err = pack(v)
		}
		if err != nil {
			t.Errorf("a load of %d: %v", n, err)
		}
		if _, err := pack([]any{v}); !errors.Is(err, payload.ErrUnencodable) {
			t.Errorf("a load of %d: %v", n+1, err)
		}
	}
}

// FuzzLoad: every load that was read can be nested deeper, packed and read.
func FuzzLoad(f *testing.F) {
	seed(f)
	f.Add(nested(512))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := payload.UnmarshalLoad(b)
		if err != nil {
			return
		}
		if _, err := payload.MarshalLoad(v); err != nil {
			t.Fatalf("cannot be asked again: %v", err)
		}
		for range 64 {
			v = []any{v}
		}
		packed, err := payload.MarshalBin(v)
		if err != nil {
			t.Fatalf("cannot be packed: %v", err)
		}
		if again, err := payload.UnmarshalBin(packed); err != nil || !payload.Equal(again, v) {
			t.Fatalf("cannot be read again: %v", err)
		}
	})
}
