package yaml

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

var (
	errUndefined = errors.New("no constructor") // the tag is not one of the loader's
)

// plain constructs the value of an untagged plain scalar.
func plain(s string) (any, error) { return typed(resolve(s), s) }

// typed constructs a scalar of a known tag.
func typed(tag, s string) (any, error) {
	switch tag {
	case tagStr, tagTime, "!!python/unicode":
		return s, nil // Salt keeps dates as text
	case tagNull:
		return nil, nil
	case tagBool:
		return parseBool(s)
	case tagInt:
		return parseInt(s)
	case tagFloat:
		return parseFloat(s)
	case "!!binary":
		return binary(s)
	case "!!seq", "!!map", "!!set":
		return nil, fmt.Errorf("expected a %s node, but found scalar", map[string]string{"!!seq": "sequence"}[tag])
	case "!!omap", "!!pairs":
		return nil, errors.New("expected a sequence, but found scalar")
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
	return nil, fmt.Errorf("invalid boolean: '%s'", s)
}

// parseInt reads an integer. Salt strips leading zeros, so 010 is ten; behind a sign they still mean octal.
func parseInt(s string) (any, error) {
	text := s
	if text != "0" && strings.HasPrefix(text, "0") && !strings.HasPrefix(text, "0b") && !strings.HasPrefix(text, "0x") {
		if text = strings.TrimLeft(text, "0"); text == "" {
			text = "0"
		}
	}
	text = strings.ReplaceAll(text, "_", "")
	bad := fmt.Errorf("invalid integer: '%s'", s)
	negative := strings.HasPrefix(text, "-")
	text = unsigned(text)
	if text == "" || strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") {
		return nil, bad
	}
	var n *big.Int
	var ok bool
	switch {
	case strings.HasPrefix(text, "0b"):
		n, ok = bigInt(text[2:], 2)
	case strings.HasPrefix(text, "0x"):
		n, ok = bigInt(text[2:], 16)
	case text[0] == '0' && text != "0":
		n, ok = bigInt(strings.TrimPrefix(text, "0o"), 8)
	case strings.Contains(text, ":"):
		n, ok = sexagesimal(text)
	default:
		if v, err := strconv.ParseInt(text, 10, 64); err == nil {
			if negative {
				v = -v
			}
			return v, nil
		}
		n, ok = bigInt(text, 10)
	}
	if !ok {
		return nil, bad
	}
	if negative {
		n.Neg(n)
	}
	return narrow(n), nil
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
func sexagesimal(s string) (*big.Int, bool) {
	total, sixty := new(big.Int), big.NewInt(60)
	for part := range strings.SplitSeq(s, ":") {
		n, ok := bigInt(part, 10)
		if !ok || total.BitLen() > 1<<14 {
			return nil, false
		}
		total.Mul(total, sixty).Add(total, n)
	}
	return total, true
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
	sign := 1.0
	if strings.HasPrefix(text, "-") {
		sign = -1
	}
	text = unsigned(text)
	switch text {
	case ".inf":
		return math.Inf(int(sign)), nil
	case ".nan":
		return math.NaN(), nil
	}
	total := 0.0
	for part := range strings.SplitSeq(text, ":") {
		f, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || strings.ContainsAny(part, "xp") {
			return nil, fmt.Errorf("invalid number: '%s'", s)
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

// keyText is a key as Python's str shows it.
func keyText(key any) string {
	switch k := key.(type) {
	case nil:
		return "None"
	case bool:
		if k {
			return "True"
		}
		return "False"
	}
	return fmt.Sprint(key)
}
