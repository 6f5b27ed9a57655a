package codecs

import (
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// tables gives the table of a codec of one byte a character by its name in Python.
var tables = sync.OnceValue(func() map[string]*charmap.Charmap {
	return map[string]*charmap.Charmap{
		"iso8859_2": charmap.ISO8859_2, "iso8859_3": charmap.ISO8859_3, "iso8859_4": charmap.ISO8859_4,
		"iso8859_5": charmap.ISO8859_5, "iso8859_7": charmap.ISO8859_7, "iso8859_9": charmap.ISO8859_9,
		"iso8859_10": charmap.ISO8859_10, "iso8859_13": charmap.ISO8859_13, "iso8859_14": charmap.ISO8859_14,
		"iso8859_15": charmap.ISO8859_15, "iso8859_16": charmap.ISO8859_16,
		"cp1250": charmap.Windows1250, "cp1251": charmap.Windows1251, "cp1252": charmap.Windows1252,
		"cp1253": charmap.Windows1253, "cp1254": charmap.Windows1254, "cp1257": charmap.Windows1257,
		"cp437": charmap.CodePage437, "cp850": charmap.CodePage850, "cp852": charmap.CodePage852,
		"cp858": charmap.CodePage858, "cp866": charmap.CodePage866, "koi8_r": charmap.KOI8R,
	}
})

// tableAliases are further names of tables.
var tableAliases = map[string]string{
	"latin2": "iso8859_2", "l2": "iso8859_2", "latin9": "iso8859_15", "l9": "iso8859_15", "latin5": "iso8859_9",
	"windows_1250": "cp1250", "windows_1251": "cp1251", "windows_1252": "cp1252", "windows_1253": "cp1253",
	"windows_1254": "cp1254", "windows_1257": "cp1257", "1250": "cp1250", "1251": "cp1251", "1252": "cp1252",
	"437": "cp437", "ibm437": "cp437", "850": "cp850", "ibm850": "cp850", "852": "cp852", "ibm852": "cp852",
	"858": "cp858", "ibm858": "cp858", "866": "cp866", "ibm866": "cp866", "cyrillic": "iso8859_5", "greek": "iso8859_7",
	"iso_8859_2": "iso8859_2", "iso_8859_3": "iso8859_3", "iso_8859_4": "iso8859_4", "iso_8859_5": "iso8859_5",
	"iso_8859_7": "iso8859_7", "iso_8859_9": "iso8859_9", "iso_8859_10": "iso8859_10", "iso_8859_13": "iso8859_13",
	"iso_8859_14": "iso8859_14", "iso_8859_15": "iso8859_15", "iso_8859_16": "iso8859_16",
}

// table makes the codec of a table; nil if there is none of that name.
func table(name string) *codec {
	if alias, ok := tableAliases[name]; ok {
		name = alias
	}
	m := tables()[name]
	if m == nil {
		return nil
	}
	iso := strings.HasPrefix(name, "iso")
	// The control characters of ISO's tables stand for themselves in Python and are left out by the library. In
	// Windows' code pages it is the other way round.
	control := func(r rune) bool { return r >= utf8.RuneSelf && r < 0xa0 }
	return &codec{
		name: "charmap",
		put: func(r rune) (string, bool) {
			if control(r) && (iso || strings.HasPrefix(name, "cp125")) {
				return string([]byte{byte(r)}), iso
			}
			b, ok := m.EncodeRune(r)
			return string([]byte{b}), ok
		},
		take: func(data string) (rune, int, string) {
			b := rune(data[0])
			if control(b) && iso {
				return b, 1, ""
			}
			if r := m.DecodeByte(data[0]); r != utf8.RuneError && (r != b || !control(b)) {
				return r, 1, ""
			}
			return 0, 1, "character maps to <undefined>"
		},
	}
}
