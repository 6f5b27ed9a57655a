package py

import (
	"math"
	"math/big"
	"math/bits"

	"brine/wire/python"
)

func intMethod(name string) method {
	switch name {
	case "bit_length":
		return func(_ *Work, v any, a Args) (any, error) {
			n, _ := numberOf(v)
			return int64(n.big().BitLen()), arity("int.bit_length", a, 0, 0)
		}
	case "bit_count":
		return func(_ *Work, v any, a Args) (any, error) {
			n, _ := numberOf(v)
			count := 0
			for _, word := range n.big().Bits() {
				count += bits.OnesCount(uint(word))
			}
			return int64(count), arity("int.bit_count", a, 0, 0)
		}
	case "to_bytes":
		return intToBytes
	case "conjugate":
		return func(_ *Work, v any, a Args) (any, error) { return v, arity("int.conjugate", a, 0, 0) }
	}
	return nil
}

func floatMethod(name string) method {
	switch name {
	case "is_integer":
		return func(_ *Work, v any, a Args) (any, error) {
			f := v.(float64)
			return f == math.Trunc(f) && !math.IsInf(f, 0), arity("float.is_integer", a, 0, 0)
		}
	case "as_integer_ratio":
		return func(_ *Work, v any, a Args) (any, error) {
			r := new(big.Rat).SetFloat64(v.(float64))
			if r == nil {
				return nil, valueError("cannot convert NaN or infinity to integer ratio")
			}
			return NewTuple(python.Whole(r.Num()), python.Whole(r.Denom())), arity("float.as_integer_ratio", a, 0, 0)
		}
	}
	return nil
}

// ToFloat is float(v).
func ToFloat(v any) (float64, error) {
	if s, ok := textOf(v); ok {
		return python.ParseFloat(s)
	}
	if err := undefinedIn(v); err != nil {
		return 0, err
	}
	n, ok := numberOf(v)
	if !ok {
		return 0, typeError("float() argument must be a string or a real number, not '%s'", TypeName(v))
	}
	return n.float()
}

// ToInt is int(v).
func ToInt(v any) (any, error) {
	switch x := v.(type) {
	case Markup:
		return python.ParseInt(string(x), 10)
	case Bytes:
		return python.Int([]byte(x))
	case *Undefined:
		return nil, x.Err()
	case nil, string, bool, int64, *big.Int, float64:
		return python.Int(v)
	}
	return nil, typeError("int() argument must be a string, a bytes-like object or a real number, not '%s'",
		TypeName(v))
}
