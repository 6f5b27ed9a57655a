package codecs

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"

	"brine/wire/python"
)

type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

var (
	little order = binary.LittleEndian
	big    order = binary.BigEndian
)

func putUTF8(r rune) (string, bool) { return string(r), true }

func takeUTF8(data string) (rune, int, string) {
	r, size := utf8.DecodeRuneInString(data)
	if r != utf8.RuneError || size > 1 {
		return r, size, ""
	}
	size, why := python.BrokenUTF8([]byte(data[:min(len(data), utf8.UTFMax)]))
	return 0, size, why
}

func putBelow(limit rune) func(rune) (string, bool) {
	return func(r rune) (string, bool) {
		if r >= limit {
			return "", false
		}
		return string([]byte{byte(r)}), true
	}
}

func takeASCII(data string) (rune, int, string) {
	if data[0] >= utf8.RuneSelf {
		return 0, 1, "ordinal not in range(128)"
	}
	return rune(data[0]), 1, ""
}

func takeLatin1(data string) (rune, int, string) { return rune(data[0]), 1, "" }

func putUTF16(o order) func(rune) (string, bool) {
	return func(r rune) (string, bool) {
		var b []byte
		for _, unit := range utf16.AppendRune(nil, r) {
			b = o.AppendUint16(b, unit)
		}
		return string(b), true
	}
}

func takeUTF16(o order) step {
	return func(data string) (rune, int, string) {
		if len(data) < 2 {
			return 0, 1, "truncated data"
		}
		first := rune(o.Uint16([]byte(data[:2])))
		switch {
		case !utf16.IsSurrogate(first):
			return first, 2, ""
		case first >= 0xdc00:
			return 0, 2, "illegal encoding"
		case len(data) < 4:
			return 0, len(data), "unexpected end of data"
		}
		r := utf16.DecodeRune(first, rune(o.Uint16([]byte(data[2:4]))))
		if r == utf8.RuneError {
			return 0, 2, "illegal UTF-16 surrogate"
		}
		return r, 4, ""
	}
}

// byMark goes by the mark at the start of the data. Without one the small end comes first, as on the machine that
// Python runs on.
func byMark(name string, size int) func(data string) (*codec, int) {
	return func(data string) (*codec, int) {
		start := data[:min(len(data), size)]
		for _, end := range []string{"_be", "_le"} {
			c := byName(name + end)
			if mark, _ := c.put('\ufeff'); start == mark {
				return c, size
			}
		}
		return byName(name + "_le"), 0
	}
}

func putUTF32(o order) func(rune) (string, bool) {
	return func(r rune) (string, bool) { return string(o.AppendUint32(nil, uint32(r))), true }
}

func takeUTF32(o order) step {
	return func(data string) (rune, int, string) {
		if len(data) < 4 {
			return 0, len(data), "truncated data"
		}
		switch v := o.Uint32([]byte(data[:4])); {
		case v > utf8.MaxRune:
			return 0, 4, "code point not in range(0x110000)"
		case utf16.IsSurrogate(rune(v)):
			return 0, 4, "code point in surrogate code point range(0xd800, 0xe000)"
		default:
			return rune(v), 4, ""
		}
	}
}
