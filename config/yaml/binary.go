package yaml

import (
	"fmt"
	"strings"
)

// notASCII gives Python's message about a text that is not ASCII.
func notASCII(s string) error {
	first, last := -1, -1
	var odd rune
	for i, r := range []rune(s) {
		if r >= 0x80 && first < 0 {
			first, odd = i, r
		}
		if first >= 0 && r < 0x80 {
			break
		}
		last = i
	}
	what := fmt.Sprintf("character %s in position %d", asciiQuote(odd), first)
	if last > first {
		what = fmt.Sprintf("characters in position %d-%d", first, last)
	}
	return &valueError{text: "failed to convert base64 data into ascii: 'ascii' codec can't encode " + what +
		": ordinal not in range(128)", located: true}
}

func asciiQuote(r rune) string {
	switch {
	case r < 0x100:
		return fmt.Sprintf(`'\x%02x'`, r)
	case r < 0x10000:
		return fmt.Sprintf(`'\u%04x'`, r)
	}
	return fmt.Sprintf(`'\U%08x'`, r)
}

// badBase64 gives Python's message about base64 that ends too early, after that many characters.
func badBase64(characters int) error {
	problem := "Incorrect padding"
	if characters%4 == 1 {
		problem = fmt.Sprintf("Invalid base64-encoded string: number of data characters (%d) cannot be 1 more than "+
			"a multiple of 4", characters)
	}
	return &valueError{text: "failed to decode base64 data: " + problem, located: true}
}

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// binary decodes !!binary as leniently as Python's binascii: it skips characters outside the alphabet, and ignores
// everything after the padding. Salt appends missing padding by the length of the text as written.
func binary(s string) ([]byte, error) {
	if missing := len(s) % 4; missing > 0 {
		s += strings.Repeat("=", 4-missing)
	}
	out := make([]byte, 0, len(s)/4*3)
	var bits uint
	quad, pads, characters := 0, 0, 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 {
			return nil, notASCII(s)
		}
		if c == '=' {
			pads++
			if quad >= 2 && quad+pads >= 4 {
				return out, nil
			}
			continue
		}
		v := strings.IndexByte(base64Alphabet, c)
		if v < 0 {
			continue
		}
		pads = 0
		characters++
		bits = bits<<6 | uint(v)
		if quad = (quad + 1) % 4; quad != 1 {
			out = append(out, byte(bits>>(uint(3-quad+1)%4*2)))
		}
	}
	if quad != 0 {
		return nil, badBase64(characters)
	}
	return out, nil
}
