package py

import (
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"strings"

	"brine/modules/text/codecs"
	"brine/wire/python"
)

// bytesMethod finds a method of bytes.
func bytesMethod(name string) method {
	switch name {
	case "decode":
		return bytesDecode
	case "hex":
		return func(w *Work, v any, a Args) (any, error) {
			b := []byte(v.(Bytes))
			return hex.EncodeToString(b), errors.Join(w.Grow(2*len(b)), arity("bytes.hex", a, 0, 0))
		}
	case "upper":
		return onBytes(name, func(b string) string { return mapASCII(b, 'a', 'z') })
	case "lower":
		return onBytes(name, func(b string) string { return mapASCII(b, 'A', 'Z') })
	case "strip", "lstrip", "rstrip":
		return bytesStrip(name)
	case "startswith", "endswith":
		return bytesTest(name)
	}
	return nil
}

func onBytes(name string, f func(b string) string) method {
	return func(w *Work, v any, a Args) (any, error) {
		out := f(string(v.(Bytes)))
		return Bytes(out), errors.Join(w.Grow(len(out)), arity("bytes."+name, a, 0, 0))
	}
}

// mapASCII changes the case of the letters from first to last; bytes above ASCII are no letters.
func mapASCII(b string, first, last byte) string {
	out := []byte(b)
	for i, c := range out {
		if c >= first && c <= last {
			out[i] = c ^ 0x20
		}
	}
	return string(out)
}

func bytesStrip(name string) method {
	return func(_ *Work, v any, a Args) (any, error) {
		cut := arg(a, 0, Bytes(" \t\n\r\v\f"))
		if cut == nil {
			cut = Bytes(" \t\n\r\v\f")
		}
		set, ok := cut.(Bytes)
		if !ok {
			return nil, typeError("a bytes-like object is required, not '%s'", TypeName(cut))
		}
		b := string(v.(Bytes))
		if name != "rstrip" {
			b = trimBytes(b, string(set), func(s string) (byte, string) { return s[0], s[1:] })
		}
		if name != "lstrip" {
			b = trimBytes(b, string(set), func(s string) (byte, string) { return s[len(s)-1], s[:len(s)-1] })
		}
		return Bytes(b), arity("bytes."+name, a, 0, 1)
	}
}

func trimBytes(b, set string, next func(string) (byte, string)) string {
	for b != "" {
		c, rest := next(b)
		if strings.IndexByte(set, c) < 0 {
			break
		}
		b = rest
	}
	return b
}

func bytesTest(name string) method {
	return func(_ *Work, v any, a Args) (any, error) {
		if err := arity("bytes."+name, a, 1, 1); err != nil {
			return nil, err
		}
		x, ok := a.Pos[0].(Bytes)
		if !ok {
			return nil, typeError("%s first arg must be bytes or a tuple of bytes, not %s", name, TypeName(a.Pos[0]))
		}
		if name == "startswith" {
			return strings.HasPrefix(string(v.(Bytes)), string(x)), nil
		}
		return strings.HasSuffix(string(v.(Bytes)), string(x)), nil
	}
}

// coding binds the arguments of encode and decode.
func coding(name string, a Args) (encoding, handler string, err error) {
	sig := Sig(name, "encoding= errors=", "utf-8", "strict")
	bound, err := sig.Bind(a)
	if err != nil {
		return "", "", err
	}
	var given [2]string
	for i, v := range bound {
		s, ok := textOf(v)
		if !ok {
			return "", "", typeError("%s() argument '%s' must be str, not %s", name, sig.Params[i].Name, TypeName(v))
		}
		given[i] = s
	}
	return given[0], given[1], nil
}

// Coded gives an error of codecs the class that Python gives it.
func Coded(err error) error {
	var e *codecs.Error
	if errors.As(err, &e) {
		return Errorf(e.Class, "%s", e.Text)
	}
	return err
}

func strEncode(w *Work, v any, a Args) (any, error) {
	encoding, handler, err := coding("encode", a)
	if err != nil {
		return nil, err
	}
	s, _ := textOf(v)
	if err := w.Grow(4 * len(s)); err != nil {
		return nil, err
	}
	b, err := codecs.Encode(s, encoding, handler)
	return Bytes(b), Coded(err)
}

func bytesDecode(w *Work, v any, a Args) (any, error) {
	encoding, handler, err := coding("decode", a)
	if err != nil {
		return nil, err
	}
	b := string(v.(Bytes))
	if err := w.Grow(4 * len(b)); err != nil {
		return nil, err
	}
	s, err := codecs.Decode(b, encoding, handler)
	return s, Coded(err)
}

// endian tells whether the first byte is the largest.
func endian(v any) (big bool, err error) {
	switch order, ok := textOf(v); {
	case !ok:
		return false, typeError("to_bytes() argument 'byteorder' must be str, not %s", TypeName(v))
	case order == "big":
		return true, nil
	case order == "little":
		return false, nil
	}
	return false, valueError("byteorder must be either 'little' or 'big'")
}

// intToBytes is int.to_bytes.
func intToBytes(w *Work, v any, a Args) (any, error) {
	sig := Sig("to_bytes", "length= byteorder= * signed=", int64(1), "big", false)
	bound, err := sig.Bind(a)
	if err != nil {
		return nil, err
	}
	size, ok := numberOf(bound[0])
	if !ok {
		return nil, typeError("'%s' object cannot be interpreted as an integer", TypeName(bound[0]))
	}
	first, err := endian(bound[1])
	if err != nil {
		return nil, err
	}
	n := size.big()
	if n.Sign() < 0 {
		return nil, valueError("length argument must be non-negative")
	}
	if !n.IsInt64() || n.Int64() > int64(python.MaxDigits) {
		return nil, Errorf("MemoryError", "")
	}
	if err := w.Grow(int(n.Int64())); err != nil {
		return nil, err
	}
	number, _ := numberOf(v)
	signed, err := Truth(bound[2])
	if err != nil {
		return nil, err
	}
	out, err := fixed(number.big(), int(n.Int64()), signed)
	if !first {
		slices.Reverse(out)
	}
	return Bytes(out), err
}

// fixed is a number in size bytes, the largest first; a negative one as its complement of two.
func fixed(n *big.Int, size int, signed bool) ([]byte, error) {
	room := new(big.Int).Lsh(big.NewInt(1), uint(8*size)) // one more than the largest without a sign
	least, most := new(big.Int), new(big.Int).Sub(room, big.NewInt(1))
	if signed {
		half := new(big.Int).Rsh(room, 1)
		least, most = new(big.Int).Neg(half), new(big.Int).Sub(half, big.NewInt(1))
	}
	switch {
	case !signed && n.Sign() < 0:
		return nil, Errorf("OverflowError", "can't convert negative int to unsigned")
	case n.Cmp(least) < 0 || n.Cmp(most) > 0:
		return nil, Errorf("OverflowError", "int too big to convert")
	case n.Sign() < 0:
		n = new(big.Int).Add(n, room)
	}
	return n.FillBytes(make([]byte, size)), nil
}
