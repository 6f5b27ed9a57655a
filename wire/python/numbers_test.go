package python_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"brine/wire/payload"
	"brine/wire/python"
)

func answer(v any, err error) string {
	var e *python.Error
	if errors.As(err, &e) {
		return e.Kind + ": " + e.Text
	}
	return fmt.Sprint(v)
}

// TestParseInt: the answers are those of Python 3.11.
func TestParseInt(t *testing.T) {
	const none10, none0 = "ValueError: invalid literal for int() with base 10: ",
		"ValueError: invalid literal for int() with base 0: "
	for _, tt := range []struct {
		text string
		base int64
		want string
	}{
		{"1_000", 10, "1000"}, {"+5", 10, "5"}, {"\u0085 12 ", 10, "12"}, {"0_0", 10, "0"}, {"00", 10, "0"},
		{"٣_١", 10, "31"}, {" 12\n", 10, "12"}, {"-9223372036854775809", 10, "-9223372036854775809"},
		{"1__0", 10, none10 + "'1__0'"}, {"_1", 10, none10 + "'_1'"}, {"1_", 10, none10 + "'1_'"},
		{"0x10", 10, none10 + "'0x10'"}, {"", 10, none10 + "''"}, {"-", 10, none10 + "'-'"},
		{"+-5", 10, none10 + "'+-5'"}, {" - 5", 10, none10 + "' - 5'"}, {"²", 10, none10 + "'²'"},
		{" \x1c12\x1f", 10, none10 + `' \x1c12\x1f'`}, {"\u00a0\x1c12", 10, none10 + `'\xa0\x1c12'`},
		{"0x1_0", 0, "16"}, {"0x_10", 0, "16"}, {"0", 0, "0"}, {"00", 0, "0"}, {"_10", 0, none0 + "'_10'"},
		{"010", 0, none0 + "'010'"}, {"0b2", 0, none0 + "'0b2'"}, {"", 0, none0 + "''"},
		{"0x_f", 16, "15"}, {"0XF", 16, "15"}, {"f_f", 16, "255"}, {"0b1", 16, "177"}, {"z", 36, "35"},
		{"1", 1, "ValueError: int() base must be >= 2 and <= 36, or 0"},
	} {
		if got := answer(python.ParseInt(tt.text, tt.base)); got != tt.want {
			t.Errorf("int(%q, %d): got %s, want %s", tt.text, tt.base, got, tt.want)
		}
	}
	if got := answer(python.ParseInt(strings.Repeat("9", 4301), 10)); !strings.Contains(got, "value has 4301 digits") {
		t.Errorf("4301 digits: %s", got)
	}
}

// TestInt: the answers are those of Python 3.11.
func TestInt(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want string
	}{
		{true, "1"}, {int64(7), "7"}, {uint64(math.MaxUint64), "18446744073709551615"}, {-1.9, "-1"}, {"12", "12"},
		{1e30, "1000000000000000019884624838656"}, {[]byte(" 12 "), "12"},
		{[]byte("x"), "ValueError: invalid literal for int() with base 10: b'x'"},
		{math.NaN(), "ValueError: cannot convert float NaN to integer"},
		{math.Inf(-1), "OverflowError: cannot convert float infinity to integer"},
		{nil, "TypeError: int() argument must be a string, a bytes-like object or a real number, not 'NoneType'"},
		{[]any{}, "TypeError: int() argument must be a string, a bytes-like object or a real number, not 'list'"},
	} {
		if got := answer(python.Int(tt.v)); got != tt.want {
			t.Errorf("int(%v): got %s, want %s", tt.v, got, tt.want)
		}
	}
}

// TestParseFloat: the answers are those of Python 3.11.
func TestParseFloat(t *testing.T) {
	for text, want := range map[string]string{"1_0.5": "10.5", "nan": "nan", "+nan": "nan", "1e400": "inf",
		"infinity": "inf", " 1.5 ": "1.5", "\u00a01": "1.0", "1e5_0": "1e+50", ".5": "0.5", "5.": "5.0", "١.٥": "1.5",
		"0x1p-2": "", "_1": "", "1_": "", "1__0": "", "1._5": "", "1e_5": "", "\x1c1": "", "": "", "i": "", "in": "",
		"1d5": "", ".": ""} {
		if want == "" {
			want = "ValueError: could not convert string to float: " + python.Repr(text)
		}
		f, err := python.ParseFloat(text)
		if got := answer(python.Float(f), err); got != want {
			t.Errorf("float(%q): got %s, want %s", text, got, want)
		}
	}
}

func TestTruth(t *testing.T) {
	for _, v := range []any{nil, false, "", payload.Bytes(""), []byte{}, []any{}, payload.Set{}, payload.NewMap(0), 0,
		int64(0), uint64(0), 0.0, math.Copysign(0, -1), new(big.Int), python.ATuple{}} {
		if python.Truth(v) {
			t.Errorf("bool(%T %v) is true", v, v)
		}
	}
	for _, v := range []any{true, "0", payload.Bytes("x"), []byte{0}, []any{nil}, payload.Set{nil}, payload.M("a", nil),
		1, int64(-1), uint64(1), math.NaN(), math.Inf(1), big.NewInt(1), struct{}{}} {
		if !python.Truth(v) {
			t.Errorf("bool(%T %v) is false", v, v)
		}
	}
}
