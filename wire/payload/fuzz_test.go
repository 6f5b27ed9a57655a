package payload_test

import (
	"bytes"
	"errors"
	"testing"

	"brine/wire/payload"
	"brine/wire/wiretest"
)

// seed adds every recorded frame and value.
func seed(f *testing.F) {
	for _, file := range wiretest.LoadAll(f, wiretest.ExchangeFiles()...) {
		for _, e := range file.Exchanges() {
			f.Add(e.Request.Frame)
			if e.Reply != nil {
				f.Add(e.Reply.Frame)
			}
		}
	}
	for _, c := range wiretest.Load(f, "msgpack").List("cases") {
		if c.Has("wire_hex") {
			f.Add(wiretest.Hex(f, c, "wire_hex"))
			f.Add(wiretest.Hex(f, c, "bin_hex"))
		}
	}
}

// FuzzUnmarshal: every value that was read can be packed, and reads the same again.
func FuzzUnmarshal(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		roundTrip(t, b, payload.Unmarshal, payload.Marshal)
		roundTrip(t, b, payload.UnmarshalBin, payload.MarshalBin)
	})
}

func roundTrip(t *testing.T, b []byte, read func([]byte) (any, error), pack func(any) ([]byte, error)) {
	t.Helper()
	v, err := read(b)
	if err != nil {
		if !errors.Is(err, payload.ErrMalformed) {
			t.Fatalf("error of another kind: %v", err)
		}
		return
	}
	packed, err := pack(v)
	if err != nil {
		t.Fatalf("cannot pack what was read: %v", err)
	}
	again, err := read(packed)
	if err != nil || !payload.Equal(again, v) {
		t.Fatalf("reads differently after packing: %v\n%x\n%x", err, b, packed)
	}
	if twice, err := pack(again); err != nil || !bytes.Equal(twice, packed) {
		t.Fatalf("packs differently: %v\n%x\n%x", err, packed, twice)
	}
}

func FuzzDecodeRequest(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := payload.DecodeRequest(b)
		if err != nil {
			if !errors.Is(err, payload.ErrMalformed) && !errors.Is(err, payload.ErrEnvelope) {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		if r.Version < 0 || r.Version > 3 || r.Raw == nil {
			t.Fatalf("%+v", r)
		}
		if _, err := r.Encode(); err != nil {
			t.Fatal(err)
		}
		if p, err := payload.DecodePublication(b); err == nil {
			if _, err := p.Encode(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
