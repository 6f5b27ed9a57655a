package cmdmod

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"brine/modules"
)

// decode makes text of output in the encoding the caller named, UTF-8 without. What is no text is replaced and
// logged.
func (cmd *command) decode(b []byte, name string) (string, error) {
	text, clean, err := decodeAs(b, cmd.opt.text("output_encoding"))
	if err != nil {
		return "", err
	}
	if !clean {
		word, _ := firstWord(cmd.shown)
		cmd.call.Log(slog.LevelError, fmt.Sprintf("Failed to decode %s from command %s, non-decodable characters have been replaced", name, word))
	}
	return text, nil
}

func decodeAs(b []byte, encoding string) (text string, clean bool, err error) {
	switch strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(encoding)) {
	case "", "utf8", "u8", "cp65001":
		if utf8.Valid(b) {
			return string(b), true, nil
		}
		return replaceInvalid(b), false, nil
	case "latin1", "iso88591", "l1", "88591", "cp819":
		return widen(b), true, nil
	case "ascii", "usascii", "646":
		text, clean = narrow(b)
		return text, clean, nil
	}
	return "", false, modules.Raise("LookupError", "unknown encoding: %s", encoding)
}

func widen(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		out.WriteRune(rune(c))
	}
	return out.String()
}

func narrow(b []byte) (string, bool) {
	var out strings.Builder
	clean := true
	for _, c := range b {
		if c < utf8.RuneSelf {
			out.WriteByte(c)
			continue
		}
		out.WriteRune(utf8.RuneError)
		clean = false
	}
	return out.String(), clean
}

// replaceInvalid puts one U+FFFD in the place of each ill-formed sequence, as long as it could have gone on, which
// is how Python counts them.
func replaceInvalid(b []byte) string {
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
