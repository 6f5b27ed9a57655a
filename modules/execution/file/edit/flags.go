package edit

import (
	"strings"

	"brine/modules/loader"
	"brine/wire/python"
)

// Flags of Python's re.
const (
	ignoreCase = 2
	multiLine  = 8
	dotAll     = 16
	unicode    = 32
	verbose    = 64
	ascii      = 256
)

// flagNames are the names of flags, with the short ones.
var flagNames = map[string]int64{"A": 256, "ASCII": 256, "I": 2, "IGNORECASE": 2, "L": 4, "LOCALE": 4, "U": 32,
	"UNICODE": 32, "M": 8, "MULTILINE": 8, "S": 16, "DOTALL": 16, "X": 64, "VERBOSE": 64, "DEBUG": 128, "T": 1,
	"TEMPLATE": 1}

// flagBits reads a number, a name or a list of names.
func flagBits(v any) (int64, error) {
	var names []any
	switch x := v.(type) {
	case bool:
		if x {
			return 1, nil
		}
		return 0, nil
	case int64:
		return x, nil
	case string:
		names = []any{x}
	case []any:
		names = x
	default:
		return 0, loader.ExecErr(`Invalid re flags: "%s", must be given either as a single flag string, a list of `+
			`strings, as an integer, or as an re flag`, python.Str(v))
	}
	bits := int64(0)
	for _, name := range names {
		bit, ok := flagNames[strings.ToUpper(python.Str(name))]
		if !ok {
			return 0, loader.ExecErr("Invalid re flag given: %s", python.Str(name))
		}
		bits |= bit
	}
	return bits, nil
}

// letters are flags in the letters of a pattern.
func letters(bits int64) string {
	out := ""
	for _, f := range []struct {
		bit    int64
		letter string
	}{{ascii, "a"}, {ignoreCase, "i"}, {multiLine, "m"}, {dotAll, "s"}, {verbose, "x"}} {
		if bits&f.bit != 0 {
			out += f.letter
		}
	}
	return out
}
