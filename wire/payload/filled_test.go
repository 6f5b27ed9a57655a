package payload

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// TestFilled: a Filled is packed as bytes are, and an error of Fill is an error of the packing.
func TestFilled(t *testing.T) {
	for _, n := range []int{0, 5, 31, 32, 70000} {
		text := bytes.Repeat([]byte{0xff}, n)
		want, err := Marshal(M("data", text, "dest", "d"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Append(make([]byte, 0, 3), M("data", &Filled{N: n, Fill: func(room []byte) error {
			copy(room, text)
			return nil
		}}, "dest", "d"))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %x, %v", n, got, err)
		}
	}
	gone := errors.New("gone")
	if _, err := Marshal(&Filled{N: 5, Fill: func([]byte) error { return gone }}); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
	if _, err := MarshalBin(&Filled{}); !errors.Is(err, ErrUnencodable) {
		t.Errorf("by the bin rule: %v", err)
	}
}

// TestUnmarshalShared: long texts share the memory of the input, short ones do not.
func TestUnmarshalShared(t *testing.T) {
	long := strings.Repeat("x", sharedFrom)
	packed, err := Marshal(M("long", long, "short", long[1:], "bytes", []byte("\xff")))
	if err != nil {
		t.Fatal(err)
	}
	v, err := UnmarshalShared(packed)
	if err != nil {
		t.Fatal(err)
	}
	m := v.(*Map)
	got, isBytes := m.Value("long").([]byte)
	if !isBytes || string(got) != long || m.Value("short") != any(long[1:]) || string(m.Bytes("bytes")) != "\xff" {
		t.Fatalf("got %T", m.Value("long"))
	}
	at := bytes.Index(packed, []byte("xxxx"))
	if packed[at] = 'y'; got[0] != 'y' {
		t.Error("a long text was copied")
	}
}
