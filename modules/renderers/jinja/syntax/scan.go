package syntax

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) }

func isNamePart(r rune) bool {
	return isNameStart(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r) || r == '·'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// digitsLen is the length of digits that may have single underscores between them.
func digitsLen(s string) int {
	n := 0
	for n < len(s) {
		switch {
		case isDigit(s[n]):
			n++
		case s[n] == '_' && n > 0 && n+1 < len(s) && isDigit(s[n+1]):
			n += 2
		default:
			return n
		}
	}
	return n
}

// floatLen is the length of a float at the start of text, 0 if there is none. No float stands behind a dot.
func floatLen(s string, behindDot bool) int {
	n := digitsLen(s)
	if n == 0 || behindDot {
		return 0
	}
	isFloat := false
	if n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) {
		n += 1 + digitsLen(s[n+1:])
		isFloat = true
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		m := n + 1
		if m < len(s) && (s[m] == '+' || s[m] == '-') {
			m++
		}
		if d := digitsLen(s[m:]); d > 0 {
			n, isFloat = m+d, true
		}
	}
	if !isFloat {
		return 0
	}
	return n
}

func floatOf(s string) float64 {
	f, _ := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64) // too large is infinity, as in Python
	return f
}

// prefixedLen is the length of 0x1f and the like: a digit of the base, underscores between.
func prefixedLen(s, digits string) int {
	n := 2
	for n < len(s) {
		m := n
		if s[m] == '_' {
			m++
		}
		if m >= len(s) || strings.IndexByte(digits, s[m]|0x20) < 0 && strings.IndexByte(digits, s[m]) < 0 {
			break
		}
		n = m + 1
	}
	if n == 2 {
		return 0
	}
	return n
}

// integerLen is the length of an integer at the start of text, 0 if there is none.
func integerLen(s string) int {
	if s == "" || !isDigit(s[0]) {
		return 0
	}
	if s[0] != '0' {
		return digitsLen(s)
	}
	if len(s) > 1 {
		digits := map[byte]string{'b': "01", 'o': "01234567", 'x': "0123456789abcdef"}[s[1]|0x20]
		if digits != "" {
			if n := prefixedLen(s, digits); n > 0 {
				return n
			}
		}
	}
	n := 1
	for n < len(s) {
		switch {
		case s[n] == '0':
			n++
		case s[n] == '_' && n+1 < len(s) && s[n+1] == '0':
			n += 2
		default:
			return n
		}
	}
	return n
}

func integerOf(s string) any {
	s = strings.ReplaceAll(s, "_", "")
	if n, err := strconv.ParseInt(s, 0, 64); err == nil && (s[0] != '0' || len(s) > 1 && !isDigit(s[1])) {
		return n
	}
	base := 0
	if strings.Trim(s, "0") == "" {
		return int64(0)
	}
	b, _ := new(big.Int).SetString(s, base)
	if b == nil {
		return int64(0)
	}
	return b
}

// stringLen is the length of a quoted string at the start of text, 0 if there is none or it does not end.
func stringLen(s string) int {
	if s == "" || s[0] != '\'' && s[0] != '"' {
		return 0
	}
	for n := 1; n < len(s); n++ {
		switch s[n] {
		case '\\':
			n++
		case s[0]:
			return n + 1
		}
	}
	return 0
}

var simpleEscapes = map[byte]string{
	'\n': "", '\\': `\`, '\'': "'", '"': `"`, 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t",
	'v': "\v",
}

// unescape replaces the escapes of a string by Python's rules (codec unicode-escape).
func unescape(s, newline string) (string, error) {
	if newline != "\n" {
		s = strings.ReplaceAll(s, "\n", newline)
	}
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		n, err := unescapeOne(&b, s[i:])
		if err != nil {
			return "", err
		}
		i += n
	}
	return b.String(), nil
}

// unescapeOne writes what the escape at the start of s stands for, and returns its length.
func unescapeOne(b *strings.Builder, s string) (int, error) {
	if len(s) < 2 {
		return 0, errors.New(`\ at end of string`)
	}
	if text, ok := simpleEscapes[s[1]]; ok {
		b.WriteString(text)
		return 2, nil
	}
	switch c := s[1]; {
	case c >= '0' && c <= '7':
		n := 2
		for n < min(4, len(s)) && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		v, _ := strconv.ParseUint(s[1:n], 8, 32)
		b.WriteRune(rune(v))
		return n, nil
	case c == 'x':
		return hexEscape(b, s, 2, `truncated \xXX escape`)
	case c == 'u':
		return hexEscape(b, s, 4, `truncated \uXXXX escape`)
	case c == 'U':
		return hexEscape(b, s, 8, `truncated \UXXXXXXXX escape`)
	case c == 'N':
		return 0, errors.New("unknown Unicode character name")
	case c >= utf8.RuneSelf: // Jinja has written it as an escape of its own: what is left is a backslash
		b.WriteByte('\\')
		return 1, nil
	}
	b.WriteString(s[:2])
	return 2, nil
}

func hexEscape(b *strings.Builder, s string, digits int, short string) (int, error) {
	if len(s) < 2+digits {
		return 0, errors.New(short)
	}
	v, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	if err != nil {
		return 0, errors.New(short)
	}
	if v > unicode.MaxRune {
		return 0, errors.New("illegal Unicode character")
	}
	b.WriteRune(rune(v))
	return 2 + digits, nil
}
