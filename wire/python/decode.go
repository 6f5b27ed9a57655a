package python

import (
	"fmt"
	"unicode/utf8"
)

// UTF8Error is str() of the UnicodeDecodeError that Python raises for bytes that are not UTF-8; "" if they are.
func UTF8Error(b []byte) string {
	at := 0
	for at < len(b) {
		r, size := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	if at == len(b) {
		return ""
	}
	bad, why := BrokenUTF8(b[at:])
	what := fmt.Sprintf("byte 0x%02x in position %d", b[at], at)
	if bad > 1 {
		what = fmt.Sprintf("bytes in position %d-%d", at, at+bad-1)
	}
	return "'utf-8' codec can't decode " + what + ": " + why
}

// BrokenUTF8 tells how many bytes at the start of b belong to one broken sequence, and what Python says is wrong with
// it.
func BrokenUTF8(b []byte) (bad int, why string) {
	want, low, high := 2, byte(0x80), byte(0xbf) // of the second byte
	switch c := b[0]; {
	case c < 0xc2 || c > 0xf4:
		return 1, "invalid start byte"
	case c == 0xe0:
		want, low = 3, 0xa0
	case c == 0xed:
		want, high = 3, 0x9f
	case c == 0xf0:
		want, low = 4, 0x90
	case c == 0xf4:
		want, high = 4, 0x8f
	case c > 0xf0:
		want = 4
	case c > 0xe0:
		want = 3
	}
	for bad = 1; bad < want; bad++ {
		if bad == len(b) {
			return bad, "unexpected end of data"
		}
		if b[bad] < low || b[bad] > high {
			break
		}
		low, high = 0x80, 0xbf
	}
	return bad, "invalid continuation byte"
}
