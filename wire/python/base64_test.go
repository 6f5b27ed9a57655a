package python

import "testing"

// TestDecodeBase64: the answers are those of Python 3.11.
func TestDecodeBase64(t *testing.T) {
	const five = "Invalid base64-encoded string: number of data characters (5) cannot be 1 more than a multiple of 4"
	for text, want := range map[string]string{
		"": "", "Z2V0": "get", "Z2V0IA==": "get ", "Z2V0IA==ZZ": "get ", "Z2 V0\n!": "get", "=": "", "====": "",
		"Z2==V0": "g", "Z2=V0": "get", "Z2V0=": "get",
		"ZZZ=Z": "e\x96", "AB=C=": "\x00\x10", "AB=\n=": "\x00", "AAAA====": "\x00\x00\x00",
		"Z2V0I": five, "ABCDE===": five, "Z2V0IH": "Incorrect padding", "Z2V0IA=": "Incorrect padding",
		"caf\xc3\xa9": "Incorrect padding",
	} {
		raw, err := DecodeBase64([]byte(text))
		got := string(raw)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
