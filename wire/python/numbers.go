package python

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is an exception of Python. Kind is its class, Text is str() of it.
type Error struct{ Kind, Text string }

func (e *Error) Error() string { return e.Text }

// Errorf makes an exception.
func Errorf(kind, format string, a ...any) error {
	return &Error{Kind: kind, Text: fmt.Sprintf(format, a...)}
}

// Number is the value of a number or a bool; text is none.
func Number(v any) (float64, bool) {
	switch x := v.(type) {
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	case int:
		return float64(x), true
	case int64:
		return float64(x), true
	case uint64:
		return float64(x), true
	case float64:
		return x, true
	case *big.Int:
		f, _ := new(big.Float).SetInt(x).Float64()
		return f, true
	}
	return 0, false
}

// Whole is a whole number in its smallest form: int64, or *big.Int where that is too small.
func Whole(b *big.Int) any {
	if b.IsInt64() {
		return b.Int64()
	}
	return b
}

// Int is int(v): an int64, or a *big.Int where that is too small. The error is an *Error.
func Int(v any) (any, error) {
	switch x := v.(type) {
	case string:
		return ParseInt(x, 10)
	case []byte:
		n, err := ParseInt(string(x), 10)
		if e, ok := err.(*Error); ok && strings.HasPrefix(e.Text, "invalid") {
			err = noInt(10, Repr(x))
		}
		return n, err
	case bool:
		if x {
			return int64(1), nil
		}
		return int64(0), nil
	case int:
		return int64(x), nil
	case int64, *big.Int:
		return v, nil
	case uint64:
		return Whole(new(big.Int).SetUint64(x)), nil
	case float64:
		return Truncate(x)
	}
	return nil, Errorf("TypeError", "int() argument must be a string, a bytes-like object or a real number, not '%s'",
		Type(v))
}

// Truncate is int() of a float.
func Truncate(f float64) (any, error) {
	switch {
	case math.IsNaN(f):
		return nil, Errorf("ValueError", "cannot convert float NaN to integer")
	case math.IsInf(f, 0):
		return nil, Errorf("OverflowError", "cannot convert float infinity to integer")
	}
	b, _ := big.NewFloat(f).Int(nil)
	return Whole(b), nil
}

// MaxDigits is how many digits of a whole number Python reads and writes.
const MaxDigits = 4300

func noInt(base int64, shown string) error {
	return Errorf("ValueError", "invalid literal for int() with base %d: %s", base, shown)
}

// ParseInt is int(s, base).
func ParseInt(s string, base int64) (any, error) {
	if base != 0 && (base < 2 || base > 36) {
		return nil, Errorf("ValueError", "int() base must be >= 2 and <= 36, or 0")
	}
	fail := func() (any, error) { return nil, noInt(base, Repr(s)) }
	t := asciiDigits(s)
	sign := ""
	if t != "" && (t[0] == '-' || t[0] == '+') {
		sign, t = t[:1], t[1:]
	}
	radix := base
	for prefix, b := range map[string]int64{"0x": 16, "0o": 8, "0b": 2} {
		if len(t) > 2 && strings.EqualFold(t[:2], prefix) && (base == b || base == 0) {
			t, radix = strings.TrimPrefix(t[2:], "_"), b
			break
		}
	}
	if !evenUnderscores(t) || strings.ContainsAny(t, "+-") {
		return fail()
	}
	t = strings.ReplaceAll(t, "_", "")
	if radix == 0 {
		if radix = 10; t[0] == '0' && strings.Trim(t, "0") != "" {
			return fail()
		}
	}
	if len(t) > MaxDigits && radix&(radix-1) != 0 {
		return nil, Errorf("ValueError", "Exceeds the limit (%d digits) for integer string conversion: value has %d "+
			"digits; use sys.set_int_max_str_digits() to increase the limit", MaxDigits, len(t))
	}
	n, ok := new(big.Int).SetString(sign+t, int(radix))
	if !ok {
		return fail()
	}
	return Whole(n), nil
}

// ParseFloat is float(s).
func ParseFloat(s string) (float64, error) {
	t := asciiDigits(s)
	if t != "" && strings.EqualFold(strings.TrimLeft(t[:1], "+-")+t[1:], "nan") {
		return math.NaN(), nil
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(t, "_", ""), 64)
	syntax := err != nil && err.(*strconv.NumError).Err == strconv.ErrSyntax
	if syntax || strings.ContainsAny(t, "xXpP") || !digitsAround(t) {
		return 0, Errorf("ValueError", "could not convert string to float: %s", Repr(s))
	}
	return f, nil
}

// asciiDigits is what int() and float() read of a text: without the blanks around it, every decimal digit as one of
// ASCII. Blanks of ASCII are those of C alone: the separators that str.strip takes are none here.
func asciiDigits(s string) string {
	t := strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsDigit(r):
			return '0' + digit(r)
		}
		return '?'
	}, s)
	return strings.Trim(t, " \t\n\v\f\r")
}

// digit is the value of a decimal digit: those of a script stand in a row of ten.
func digit(r rune) rune {
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	return 0
}

// evenUnderscores says whether every underscore stands between two other characters.
func evenUnderscores(t string) bool {
	return t != "" && t[0] != '_' && t[len(t)-1] != '_' && !strings.Contains(t, "__")
}

// digitsAround says whether every underscore stands between two digits.
func digitsAround(t string) bool {
	isDigit := func(i int) bool { return i >= 0 && i < len(t) && t[i] >= '0' && t[i] <= '9' }
	for i := range len(t) {
		if t[i] == '_' && (!isDigit(i-1) || !isDigit(i+1)) {
			return false
		}
	}
	return true
}
