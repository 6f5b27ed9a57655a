package python

import (
	"strings"
	"unicode/utf8"
)

// DecodeUTF8 reads bytes as UTF-8 and puts one U+FFFD in the place of each ill-formed sequence, as long as it could
// have gone on, which is how Python counts them.
func DecodeUTF8(b []byte) string {
	var out strings.Builder
	out.Grow(len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			n = badLength(b)
		}
		out.WriteRune(r)
		b = b[n:]
	}
	return out.String()
}

// badLength is the length of the ill-formed sequence at the start of b.
func badLength(b []byte) int {
	low, high, follow := byte(0x80), byte(0xbf), 0
	switch c := b[0]; {
	case c >= 0xc2 && c <= 0xdf:
		follow = 1
	case c >= 0xe0 && c <= 0xef:
		follow = 2
		if c == 0xe0 {
			low = 0xa0
		} else if c == 0xed {
			high = 0x9f
		}
	case c >= 0xf0 && c <= 0xf4:
		follow = 3
		if c == 0xf0 {
			low = 0x90
		} else if c == 0xf4 {
			high = 0x8f
		}
	}
	n := 1
	for ; n <= follow && n < len(b) && b[n] >= low && b[n] <= high; n++ {
		low, high = 0x80, 0xbf
	}
	return n
}
