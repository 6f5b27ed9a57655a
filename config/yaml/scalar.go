package yaml

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"brine/wire/python"
)

// errUndefined: the tag is not one of the loader's.
var errUndefined = errors.New("no constructor")

// valueError is what Python says of a text that its tag does not fit; located means that Salt adds the place.
type valueError struct {
	text    string
	located bool
}

func (e *valueError) Error() string { return e.text }

func notWhole(base int, text string) error {
	return &valueError{text: fmt.Sprintf("invalid literal for int() with base %d: %s", base, python.Repr(text))}
}

var errNoText = &valueError{text: "string index out of range"}

// plain constructs the value of an untagged plain scalar.
func plain(s string) (any, error) {
	tag := resolve(s)
	if tag == tagInt {
		s = decimal(s)
	}
	return typed(tag, s)
}

// decimal strips the leading zeros that would make a number octal, as Salt does: 010 is ten. Behind a sign they stay.
func decimal(s string) string {
	if s == "0" || !strings.HasPrefix(s, "0") || strings.HasPrefix(s, "0b") || strings.HasPrefix(s, "0x") {
		return s
	}
	if s = strings.TrimLeft(s, "0"); s == "" {
		return "0"
	}
	return s
}

// typed constructs a scalar of a known tag.
func typed(tag, s string) (any, error) {
	switch tag {
	case tagStr, tagTime, tagUnicode:
		return s, nil // Salt keeps dates as text
	case tagNull:
		return nil, nil
	case tagBool:
		return parseBool(s)
	case tagInt:
		return parseInt(s)
	case tagFloat:
		return parseFloat(s)
	case tagBinary:
		return binary(s)
	}
	return nil, errUndefined
}

func parseBool(s string) (any, error) {
	switch strings.ToLower(s) {
	case "yes", "true", "on":
		return true, nil
	case "no", "false", "off":
		return false, nil
	}
	return nil, &valueError{text: python.Repr(strings.ToLower(s))} // the KeyError of a table
}

// parseInt reads an integer.
func parseInt(s string) (any, error) {
	if v, err := strconv.ParseInt(s, 10, 64); err == nil && s[0] != '0' && s[0] != '+' && !strings.HasPrefix(s, "-0") {
		return v, nil
	}
	text := strings.ReplaceAll(s, "_", "")
	if text == "" {
		return nil, errNoText
	}
	negative := text[0] == '-'
	if text = unsigned(text); text == "" {
		return nil, errNoText
	}
	n, err := magnitude(text)
	if err != nil {
		return nil, err
	}
	if negative {
		n.Neg(n)
	}
	return narrow(n), nil
}

// magnitude reads the digits of an integer, whose base their beginning tells.
func magnitude(text string) (*big.Int, error) {
	base, digits := 10, text
	switch {
	case text == "0":
	case strings.HasPrefix(text, "0b"):
		base, digits = 2, text[2:]
	case strings.HasPrefix(text, "0x"):
		base, digits = 16, text[2:]
	case text[0] == '0':
		base, digits = 8, strings.TrimPrefix(text, "0o")
	case strings.Contains(text, ":"):
		return sexagesimal(text)
	}
	n, ok := bigInt(digits, base)
	if !ok {
		return nil, notWhole(base, either(base == 8, text, digits))
	}
	return n, nil
}

// maxDigits bounds decimal integers as Python does (4300 digits); other bases get the same limit.
const maxDigits = 4300

func bigInt(s string, base int) (*big.Int, bool) {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > maxDigits || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") {
		return nil, false
	}
	return new(big.Int).SetString(s, base)
}

// sexagesimal reads 190:20:30.
func sexagesimal(s string) (*big.Int, error) {
	total, sixty := new(big.Int), big.NewInt(60)
	for part := range strings.SplitSeq(s, ":") {
		n, ok := bigInt(part, 10)
		if !ok || total.BitLen() > 1<<14 {
			return nil, notWhole(10, part)
		}
		total.Mul(total, sixty).Add(total, n)
	}
	return total, nil
}

// narrow gives the smallest of int64, uint64 and *big.Int that holds n.
func narrow(n *big.Int) any {
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.IsUint64():
		return n.Uint64()
	}
	return n
}

func parseFloat(s string) (any, error) {
	text := strings.ToLower(strings.ReplaceAll(s, "_", ""))
	if text == "" {
		return nil, errNoText
	}
	sign := 1.0
	if strings.HasPrefix(text, "-") {
		sign = -1
	}
	if text = unsigned(text); text == "" {
		text = " " // what Python would say of it
	}
	switch text {
	case ".inf":
		return math.Inf(int(sign)), nil
	case ".nan":
		return math.NaN(), nil
	}
	total := 0.0
	for part := range strings.SplitSeq(text, ":") {
		f, err := python.ParseFloat(part)
		if err != nil {
			return nil, &valueError{text: err.Error()}
		}
		total = total*60 + f
	}
	return sign * total, nil
}

// mapKey turns a value into one that can be a key of a Go map.
func mapKey(v any) any {
	if n, ok := v.(*big.Int); ok {
		return n.String() // packed as text anyway
	}
	return v
}

// identity maps keys that Python holds for the same dictionary key to one value: 1, 1.0 and true.
func identity(key any) any {
	switch k := key.(type) {
	case bool:
		if k {
			return int64(1)
		}
		return int64(0)
	case float64:
		if i := int64(k); float64(i) == k {
			return i
		}
	}
	return key
}
