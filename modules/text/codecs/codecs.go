// Package codecs encodes and decodes text by the names of Python's codecs, with Python's error handlers and Python's
// texts of errors. It holds UTF-8, UTF-16, UTF-32, ASCII, Latin-1 and the tables of one byte a character that are in
// use on Unix. It answers to str.encode and bytes.decode. A name that Python does not know is an unknown encoding, too.
package codecs

import (
	"errors"
	"fmt"
	"strings"
)

// Error is a failure of Encode or Decode as Python raises it: Class is UnicodeEncodeError, UnicodeDecodeError or
// LookupError, Text is str() of it.
type Error struct{ Class, Text string }

func (e *Error) Error() string { return e.Text }

// Encode is text.encode(encoding, handler).
func Encode(text, encoding, handler string) (string, error) {
	c, err := find(encoding)
	if err != nil {
		return "", err
	}
	return encode(c, text, handler)
}

// Decode is data.decode(encoding, handler). Python asks for no codec where there is nothing to decode.
func Decode(data, encoding, handler string) (string, error) {
	if data == "" {
		return "", nil
	}
	c, err := find(encoding)
	if err != nil {
		return "", err
	}
	if c.sense != nil {
		var mark int
		c, mark = c.sense(data)
		return decode(c, data, mark, handler)
	}
	if c.mark != "" && strings.HasPrefix(data, c.mark) {
		return decode(c, data, len(c.mark), handler)
	}
	return decode(c, data, 0, handler)
}

// IsEncodeError reports whether an error of Encode is about a character that the encoding does not have.
func IsEncodeError(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Class == "UnicodeEncodeError"
}

// codec is one encoding.
type codec struct {
	name  string                          // in texts of errors
	mark  string                          // what stands before every text that is encoded
	limit rune                            // for ordinal not in range(N); 0: the character maps to <undefined>
	put   func(r rune) (string, bool)     // the bytes of a character
	take  step                            // decodes one character
	sense func(data string) (*codec, int) // finds the codec that decodes data, and the length of its mark; may be nil
}

// step decodes the character at the start of data: its length in bytes, and "" or what is wrong with those bytes.
type step func(data string) (r rune, size int, why string)

// find finds a codec by any spelling that Python takes.
func find(encoding string) (*codec, error) {
	name := normal(encoding)
	if alias, ok := aliases[name]; ok {
		name = alias
	}
	if c := byName(name); c != nil {
		return c, nil
	}
	return nil, &Error{"LookupError", "unknown encoding: " + encoding}
}

// normal writes a name as Python looks it up: small letters, one underline for what is no letter, digit or dot.
func normal(encoding string) string {
	words := strings.FieldsFunc(strings.ToLower(encoding), func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && r != '.'
	})
	return strings.Join(words, "_")
}

// aliases are further names of the codecs that are no table.
var aliases = map[string]string{
	"utf8": "utf_8", "u8": "utf_8", "utf": "utf_8", "cp65001": "utf_8", "utf8_ucs2": "utf_8", "utf8_ucs4": "utf_8",
	"utf16": "utf_16", "u16": "utf_16", "utf_16le": "utf_16_le", "unicodelittleunmarked": "utf_16_le",
	"utf_16be": "utf_16_be", "unicodebigunmarked": "utf_16_be",
	"utf32": "utf_32", "u32": "utf_32", "utf_32le": "utf_32_le", "utf_32be": "utf_32_be",
	"us_ascii": "ascii", "us": "ascii", "646": "ascii", "ansi_x3.4_1968": "ascii", "ansi_x3_4_1968": "ascii",
	"ansi_x3.4_1986": "ascii", "cp367": "ascii", "csascii": "ascii", "ibm367": "ascii", "iso646_us": "ascii",
	"iso_646.irv_1991": "ascii", "iso_ir_6": "ascii",
	"latin1": "latin_1", "latin": "latin_1", "l1": "latin_1", "8859": "latin_1", "cp819": "latin_1",
	"ibm819": "latin_1", "iso8859": "latin_1", "iso8859_1": "latin_1", "iso_8859_1": "latin_1",
	"iso_8859_1_1987": "latin_1", "iso_ir_100": "latin_1", "csisolatin1": "latin_1",
}

func byName(name string) *codec {
	switch name {
	case "utf_8":
		return &codec{name: "utf-8", put: putUTF8, take: takeUTF8}
	case "utf_8_sig":
		return &codec{name: "utf-8", mark: "\xef\xbb\xbf", put: putUTF8, take: takeUTF8}
	case "utf_16":
		return &codec{name: "utf-16", mark: "\xff\xfe", put: putUTF16(little), sense: byMark("utf_16", 2)}
	case "utf_16_le":
		return &codec{name: "utf-16-le", put: putUTF16(little), take: takeUTF16(little)}
	case "utf_16_be":
		return &codec{name: "utf-16-be", put: putUTF16(big), take: takeUTF16(big)}
	case "utf_32":
		return &codec{name: "utf-32", mark: "\xff\xfe\x00\x00", put: putUTF32(little), sense: byMark("utf_32", 4)}
	case "utf_32_le":
		return &codec{name: "utf-32-le", put: putUTF32(little), take: takeUTF32(little)}
	case "utf_32_be":
		return &codec{name: "utf-32-be", put: putUTF32(big), take: takeUTF32(big)}
	case "ascii":
		return &codec{name: "ascii", limit: 128, put: putBelow(128), take: takeASCII}
	case "latin_1":
		return &codec{name: "latin-1", limit: 256, put: putBelow(256), take: takeLatin1}
	}
	return table(name)
}

func encodeError(format string, a ...any) error {
	return &Error{"UnicodeEncodeError", fmt.Sprintf(format, a...)}
}

func decodeError(format string, a ...any) error {
	return &Error{"UnicodeDecodeError", fmt.Sprintf(format, a...)}
}
