package codecs

import (
	"fmt"
	"strconv"
	"strings"
)

// encode makes bytes of a text. Each run of characters that the codec does not have goes to the handler as one.
func encode(c *codec, text, handler string) (string, error) {
	var out strings.Builder
	out.WriteString(c.mark)
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		if b, ok := c.put(runes[i]); ok {
			out.WriteString(b)
			continue
		}
		end := i + 1
		for end < len(runes) && c.limit != 0 && lacks(c, runes[end]) {
			end++
		}
		instead, err := c.cannotEncode(runes, i, end, handler)
		if err != nil {
			return "", err
		}
		for _, r := range instead {
			b, ok := c.put(r)
			if !ok {
				return "", c.encodeError(runes, i, end)
			}
			out.WriteString(b)
		}
		i = end - 1
	}
	return out.String(), nil
}

func lacks(c *codec, r rune) bool {
	_, ok := c.put(r)
	return !ok
}

// cannotEncode is what the handler puts in the place of characters.
func (c *codec) cannotEncode(runes []rune, start, end int, handler string) (string, error) {
	var b strings.Builder
	for _, r := range runes[start:end] {
		switch handler {
		case "ignore":
		case "replace":
			b.WriteByte('?')
		case "backslashreplace":
			b.WriteString(escaped(r))
		case "xmlcharrefreplace":
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		case "strict", "surrogateescape", "surrogatepass":
			return "", c.encodeError(runes, start, end)
		default:
			return "", &Error{"LookupError", fmt.Sprintf("unknown error handler name '%s'", handler)}
		}
	}
	return b.String(), nil
}

func (c *codec) encodeError(runes []rune, start, end int) error {
	why := "character maps to <undefined>"
	if c.limit != 0 {
		why = fmt.Sprintf("ordinal not in range(%d)", c.limit)
	} else {
		for end < len(runes) && lacks(c, runes[end]) {
			end++
		}
	}
	if end-start == 1 {
		return encodeError("'%s' codec can't encode character '%s' in position %d: %s", c.name, escaped(runes[start]),
			start, why)
	}
	return encodeError("'%s' codec can't encode characters in position %d-%d: %s", c.name, start, end-1, why)
}

// escaped is a character as backslashreplace writes it.
func escaped(r rune) string {
	switch {
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// decode makes text of bytes behind a mark of skip bytes.
func decode(c *codec, data string, skip int, handler string) (string, error) {
	var out strings.Builder
	out.Grow(len(data))
	for at := skip; at < len(data); {
		r, size, why := c.take(data[at:])
		if why == "" {
			out.WriteRune(r)
			at += size
			continue
		}
		instead, err := c.cannotDecode(data, at, size, why, handler)
		if err != nil {
			return "", err
		}
		out.WriteString(instead)
		at += size
	}
	return out.String(), nil
}

// cannotDecode is what the handler puts in the place of bytes.
//
// Unlike Python: surrogateescape and surrogatepass are refused, since text of brine holds no half characters.
func (c *codec) cannotDecode(data string, at, size int, why, handler string) (string, error) {
	switch handler {
	case "ignore":
		return "", nil
	case "replace":
		return "\ufffd", nil
	case "backslashreplace":
		var b strings.Builder
		for i := range size {
			fmt.Fprintf(&b, `\x%02x`, data[at+i])
		}
		return b.String(), nil
	case "surrogateescape", "surrogatepass":
		return "", &Error{"LookupError", fmt.Sprintf("brine does not have the error handler '%s' for what it decodes",
			handler)}
	case "strict":
		if size == 1 {
			return "", decodeError("'%s' codec can't decode byte 0x%02x in position %d: %s", c.name, data[at], at, why)
		}
		return "", decodeError("'%s' codec can't decode bytes in position %d-%d: %s", c.name, at, at+size-1, why)
	}
	return "", &Error{"LookupError", fmt.Sprintf("unknown error handler name '%s'", handler)}
}
