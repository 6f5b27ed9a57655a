package codecs

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"unicode/utf8"
)

// recorded is what Python made of the cases; testdata/make.py tells how it was taken.
type recorded struct {
	Encode, Decode [][]any
	Tables         [][]string
}

func read(t *testing.T) recorded {
	t.Helper()
	b, err := os.ReadFile("testdata/python311.json")
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// told is a result as the record writes it.
func told(t *testing.T, out string, err error) any {
	t.Helper()
	if err == nil {
		return out
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *Error", err)
	}
	return e.Class + ": " + e.Text
}

func wanted(v any) any {
	if l, ok := v.([]any); ok {
		return l[0].(string) + ": " + l[1].(string)
	}
	return v
}

func TestEncodeAsPython(t *testing.T) {
	for _, c := range read(t).Encode {
		out, err := Encode(c[2].(string), c[0].(string), c[1].(string))
		if got := told(t, hex.EncodeToString([]byte(out)), err); got != wanted(c[3]) {
			t.Errorf("Encode(%q, %q, %q): got %v, want %v", c[2], c[0], c[1], got, wanted(c[3]))
		}
	}
}

func TestDecodeAsPython(t *testing.T) {
	for _, c := range read(t).Decode {
		data, err := hex.DecodeString(c[2].(string))
		if err != nil {
			t.Fatal(err)
		}
		out, err := Decode(string(data), c[0].(string), c[1].(string))
		if got := told(t, out, err); got != wanted(c[3]) {
			t.Errorf("Decode(%x, %q, %q): got %q, want %q", data, c[0], c[1], got, wanted(c[3]))
		}
	}
}

func TestTablesAsPython(t *testing.T) {
	for _, row := range read(t).Tables {
		i := 0
		for _, want := range row[1] {
			b := string([]byte{byte(i)})
			got, err := Decode(b, row[0], "replace")
			if err != nil || got != string(want) {
				t.Errorf("%s: byte %#02x: got %q (%v), want %q", row[0], i, got, err, want)
			}
			if want != utf8.RuneError {
				if back, err := Encode(got, row[0], "strict"); err != nil || back != b {
					t.Errorf("%s: %q: got %x (%v), want %x", row[0], got, back, err, b)
				}
			}
			i++
		}
		if i != 256 {
			t.Fatalf("%s: the record has %d characters", row[0], i)
		}
	}
}
