package yaml

import (
	"fmt"
	"unicode/utf8"
)

// readable checks that a text is UTF-8 and contains only characters that YAML allows.
func readable(b []byte) *Error {
	line, start := 1, 0
	for i := 0; i < len(b); {
		c := b[i]
		if c >= ' ' && c < 0x7f || c == '\t' || c == '\r' {
			i++
			continue
		}
		if c == '\n' {
			i++
			line, start = line+1, i
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		e := &Error{Kind: ReaderError, Line: line, Column: utf8.RuneCount(b[start:i]) + 1, Offset: i}
		switch {
		case r == utf8.RuneError && size == 1:
			e.Problem = fmt.Sprintf("unacceptable character #x%04x: invalid leading UTF-8 octet", c)
			return e
		case r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
			e.Problem = fmt.Sprintf("unacceptable character #x%04x: control characters are not allowed", r)
			return e
		}
		i += size
	}
	return nil
}
