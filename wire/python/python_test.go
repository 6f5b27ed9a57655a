package python_test

import (
	"math"
	"testing"

	"brine/wire/payload"
	"brine/wire/python"
)

func TestRepr(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want string
	}{
		{nil, "None"}, {true, "True"}, {false, "False"}, {int64(-3), "-3"}, {uint64(math.MaxUint64),
			"18446744073709551615"}, {1.0, "1.0"}, {0.1, "0.1"}, {1e16, "1e+16"}, {1e15, "1000000000000000.0"},
		{0.0001, "0.0001"}, {0.00001, "1e-05"},
		{math.Inf(-1), "-inf"}, {math.NaN(), "nan"},
		{"a", "'a'"}, {"it's", `"it's"`}, {`it's "x"`, `'it\'s "x"'`}, {"a\nb\tc\\", `'a\nb\tc\\'`},
		{"\x00\x7f", `'\x00\x7f'`}, {"ü€", "'ü€'"}, {"\u200b", `'\u200b'`}, {"\U000e0001", `'\U000e0001'`},
		{[]byte("a'\xff"), `b"a'\xff"`}, {payload.Bytes("a"), "b'a'"}, {"\ufffd", "'\ufffd'"}, {"\xff", `'\ufffd'`},
		{[]any{}, "[]"}, {[]any{int64(1), "x", nil}, "[1, 'x', None]"},
		{payload.NewMap(0), "{}"}, {payload.M("a", int64(1), int64(2), []any{}), "{'a': 1, 2: []}"},
	} {
		if got := python.Repr(tt.v); got != tt.want {
			t.Errorf("Repr(%v): got %s, want %s", tt.v, got, tt.want)
		}
	}
}

func TestStrTupleType(t *testing.T) {
	if got := python.Str("it's"); got != "it's" {
		t.Errorf("Str: %s", got)
	}
	for want, v := range map[string][]any{"()": {}, "(1,)": {int64(1)}, "(1, 'a')": {int64(1), "a"}} {
		if got := python.Tuple(v); got != want {
			t.Errorf("Tuple(%v): got %s, want %s", v, got, want)
		}
	}
	for want, v := range map[string]any{"NoneType": nil, "bool": true, "int": int64(1), "float": 1.5, "str": "",
		"bytes": payload.Bytes(""), "list": []any{}, "dict": payload.NewMap(0)} {
		if got := python.Type(v); got != want {
			t.Errorf("Type(%v): got %s, want %s", v, got, want)
		}
	}
}

func TestStrOrdered(t *testing.T) {
	ordered := func(kv ...any) *payload.Map { return payload.M(kv...).AsOrdered() }
	for _, tt := range []struct {
		v    any
		want string
	}{
		{ordered("a", "b", "c", []any{ordered("x", int64(1))}),
			"OrderedDict([('a', 'b'), ('c', [OrderedDict([('x', 1)])])])"},
		{payload.M("a", ordered()), "{'a': OrderedDict()}"},
		{[]any{"a"}, "['a']"},
		{"a", "a"},
	} {
		if got := python.StrOrdered(tt.v); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
