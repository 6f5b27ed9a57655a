package python

import (
	"unicode"

	"brine/wire/payload"
)

// Truth is bool(v).
func Truth(v any) bool {
	switch x := v.(type) {
	case nil:
		return false
	case bool:
		return x
	case string:
		return x != ""
	case payload.Bytes:
		return x != ""
	case []byte:
		return len(x) > 0
	case []any:
		return len(x) > 0
	case ATuple:
		return len(x.Values) > 0
	case payload.Set:
		return len(x) > 0
	case *payload.Map:
		return x.Len() > 0
	}
	if f, ok := Number(v); ok {
		return f != 0
	}
	return true
}

// IsSpace is str.isspace of one character, which str.strip takes off: the white space of Unicode, and four separators
// of ASCII.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
