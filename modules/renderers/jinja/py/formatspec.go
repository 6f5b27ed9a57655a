package py

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"brine/wire/python"
)

// spec is a format specification: [[fill]align][sign][z][#][0][width][,][.precision][type].
type spec struct {
	fill      string
	align     byte
	sign      byte
	alt       bool
	width     int64
	sep       string
	precision int64 // -1: none
	kind      byte
}

func parseSpec(s string) (spec, bool) {
	p := spec{fill: " ", precision: -1}
	if r, n := utf8.DecodeRuneInString(s); n < len(s) && n > 0 && strings.IndexByte("<>=^", s[n]) >= 0 {
		p.fill, p.align, s = string(r), s[n], s[n+1:]
	} else if s != "" && strings.IndexByte("<>=^", s[0]) >= 0 {
		p.align, s = s[0], s[1:]
	}
	if s != "" && strings.IndexByte("+- ", s[0]) >= 0 {
		p.sign, s = s[0], s[1:]
	}
	if strings.HasPrefix(s, "#") {
		p.alt, s = true, s[1:]
	}
	if strings.HasPrefix(s, "0") {
		if p.align == 0 {
			p.fill, p.align = "0", '='
		}
		s = s[1:]
	}
	var ok bool
	if p.width, s, ok = leadingNumber(s); !ok {
		return p, false
	}
	if s != "" && (s[0] == ',' || s[0] == '_') {
		p.sep, s = s[:1], s[1:]
	}
	if strings.HasPrefix(s, ".") {
		before := s[1:]
		if p.precision, s, ok = leadingNumber(before); !ok || len(s) == len(before) {
			return p, false
		}
	}
	if s != "" {
		p.kind, s = s[0], s[1:]
	}
	return p, s == ""
}

func leadingNumber(s string) (int64, string, bool) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == 0 {
		return 0, s, true
	}
	v, err := strconv.ParseInt(s[:n], 10, 40)
	return v, s[n:], err == nil
}

// Format is format(v, spec).
func Format(w *Work, v any, text string) (string, error) {
	if err := undefinedIn(v); err != nil && text != "" {
		return "", err
	}
	if text == "" {
		return Str(w, v)
	}
	p, ok := parseSpec(text)
	if !ok {
		return "", valueError("Invalid format specifier '%s' for object of type '%s'", text, TypeName(v))
	}
	if s, ok := textOf(v); ok {
		return formatText(w, s, p)
	}
	n, ok := numberOf(v)
	if _, isBool := v.(bool); isBool && p.kind == 0 {
		s, _ := Str(w, v)
		return formatText(w, s, p)
	}
	if !ok {
		return "", typeError("unsupported format string passed to %s.__format__", TypeName(v))
	}
	if n.isFloat || strings.IndexByte("eEfFgG%", p.kind) >= 0 && p.kind != 0 {
		return formatFloat(w, n, p)
	}
	return formatInt(w, n.big(), p)
}

func unknownCode(kind byte, what string) error {
	return valueError("Unknown format code '%c' for object of type '%s'", kind, what)
}

func formatText(w *Work, s string, p spec) (string, error) {
	if p.kind != 0 && p.kind != 's' {
		return "", unknownCode(p.kind, "str")
	}
	if p.sign != 0 {
		return "", valueError("Sign not allowed in string format specifier")
	}
	if p.align == '=' {
		if p.fill != "0" {
			return "", valueError("'=' alignment not allowed in string format specifier")
		}
		p.align = '<'
	}
	if p.precision >= 0 && int64(utf8.RuneCountInString(s)) > p.precision {
		s = cut(s, 0, int(p.precision))
	}
	if p.align == 0 {
		p.align = '<'
	}
	return p.pad(w, "", s)
}

// pad brings a number or text to its width; sign stands before what fills with '='.
func (p spec) pad(w *Work, sign, body string) (string, error) {
	n := p.width - int64(utf8.RuneCountInString(sign+body))
	if n <= 0 {
		return sign + body, nil
	}
	left := map[byte]int64{'<': 0, '>': n, '=': n, '^': n / 2}[p.align]
	l, err := Pad(w, p.fill, left)
	if err != nil {
		return "", err
	}
	r, err := Pad(w, p.fill, n-left)
	if p.align == '=' {
		return sign + l + body, err
	}
	return l + sign + body + r, err
}

func (p spec) signOf(negative bool) string {
	switch {
	case negative:
		return "-"
	case p.sign == '+' || p.sign == ' ':
		return string(p.sign)
	}
	return ""
}

// group puts separators between the digits before the point.
func group(digits, sep string, every int) string {
	if sep == "" {
		return digits
	}
	whole, rest := digits, ""
	if i := strings.IndexAny(digits, ".e%"); i >= 0 && every == 3 {
		whole, rest = digits[:i], digits[i:]
	}
	var parts []string
	for len(whole) > every {
		parts = append([]string{whole[len(whole)-every:]}, parts...)
		whole = whole[:len(whole)-every]
	}
	return strings.Join(append([]string{whole}, parts...), sep) + rest
}

func formatInt(w *Work, n *big.Int, p spec) (string, error) {
	if p.precision >= 0 {
		return "", valueError("Precision not allowed in integer format specifier")
	}
	base, prefix, every := 10, "", 4
	switch p.kind {
	case 0, 'd', 'n':
		every = 3
	case 'b':
		base, prefix = 2, "0b"
	case 'o':
		base, prefix = 8, "0o"
	case 'x', 'X':
		base, prefix = 16, "0x"
	case 'c':
		return formatText(w, string(rune(n.Int64())), spec{fill: p.fill, align: p.align, width: p.width, precision: -1})
	default:
		return "", unknownCode(p.kind, "int")
	}
	digits := new(big.Int).Abs(n).Text(base)
	if base == 10 && len(digits) > python.MaxDigits {
		return bigText(n)
	}
	if !p.alt {
		prefix = ""
	}
	if p.kind == 'X' {
		digits, prefix = strings.ToUpper(digits), strings.ToUpper(prefix)
	}
	if p.align == 0 {
		p.align = '>'
	}
	return p.grouped(w, p.signOf(n.Sign() < 0)+prefix, digits, every)
}

// grouped fills zeros before it puts separators between digits, as Python does.
func (p spec) grouped(w *Work, sign, digits string, every int) (string, error) {
	body := group(digits, p.sep, every)
	if p.sep != "" && p.fill == "0" && p.align == '=' && p.width < 1<<16 {
		for int64(len(sign)+len(body)) < p.width {
			digits = "0" + digits
			if body = group(digits, p.sep, every); int64(len(sign)+len(body)) > p.width {
				break
			}
		}
	}
	return p.pad(w, sign, body)
}

// maxPrecision bounds the digits behind the point.
const maxPrecision = 10000

func formatFloat(w *Work, n number, p spec) (string, error) {
	f, err := n.float()
	if err != nil {
		return "", err
	}
	if p.precision > maxPrecision {
		return "", valueError("precision too big")
	}
	body, ok := floatDigits(math.Abs(f), p)
	if !ok {
		return "", unknownCode(p.kind, "float")
	}
	if p.align == 0 {
		p.align = '>'
	}
	return p.grouped(w, p.signOf(math.Signbit(f) && !math.IsNaN(f)), body, 3)
}

func floatDigits(f float64, p spec) (string, bool) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		s := python.Float(f)
		if p.kind == 'E' || p.kind == 'F' || p.kind == 'G' {
			s = strings.ToUpper(s)
		}
		if p.kind == '%' {
			s += "%"
		}
		return s, true
	}
	prec := int(p.precision)
	if prec < 0 {
		prec = 6
	}
	switch p.kind {
	case 0:
		if p.precision < 0 {
			return python.Float(f), true
		}
		s := general(f, max(prec, 1), p.alt, true)
		return s, true
	case 'f', 'F':
		return strconv.FormatFloat(f, 'f', prec, 64), true
	case 'e':
		return strconv.FormatFloat(f, 'e', prec, 64), true
	case 'E':
		return strings.ToUpper(strconv.FormatFloat(f, 'e', prec, 64)), true
	case 'g', 'n':
		return general(f, max(prec, 1), p.alt, false), true
	case 'G':
		return strings.ToUpper(general(f, max(prec, 1), p.alt, false)), true
	case '%':
		return strconv.FormatFloat(f*100, 'f', prec, 64) + "%", true
	}
	return "", false
}

// general is the format g; point keeps a ".0" as format() without a type does.
func general(f float64, prec int, alt, point bool) string {
	exp := 0
	if f != 0 {
		s := strconv.FormatFloat(f, 'e', prec-1, 64)
		exp, _ = strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	}
	limit := prec
	if point {
		limit = prec - 1 // one digit must stay behind the point
	}
	if exp < -4 || exp >= max(limit, 1) && exp >= limit {
		s := strconv.FormatFloat(f, 'e', prec-1, 64)
		mant, e, _ := strings.Cut(s, "e")
		if !alt && strings.Contains(mant, ".") {
			mant = strings.TrimRight(strings.TrimRight(mant, "0"), ".")
		}
		return mant + "e" + e
	}
	s := strconv.FormatFloat(f, 'f', prec-1-exp, 64)
	if !alt && strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if point && !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
