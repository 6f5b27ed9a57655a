package shlex_test

import (
	"errors"
	"slices"
	"testing"

	"brine/wire/python/shlex"
)

// The wanted words are those of Python 3.11's shlex.split.
func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
		err  error
	}{
		{"", nil, nil},
		{"  a  b\tc\n", []string{"a", "b", "c"}, nil},
		{`a "b c" 'd e'`, []string{"a", "b c", "d e"}, nil},
		{`a'b'"c"d`, []string{"abcd"}, nil},
		{`'' ""`, []string{"", ""}, nil},
		{`a\ b \\ \"`, []string{"a b", `\`, `"`}, nil},
		{`"a\"b\\c\d"`, []string{`a"b\c\d`}, nil},
		{`'a\b'`, []string{`a\b`}, nil},
		{"a#b # c", []string{"a#b", "#", "c"}, nil},
		{`"abc`, nil, shlex.ErrNoClosingQuote},
		{`'abc`, nil, shlex.ErrNoClosingQuote},
		{`abc\`, nil, shlex.ErrNoEscaped},
		{`"a\`, nil, shlex.ErrNoEscaped},
		{"ü 'ß x'", []string{"ü", "ß x"}, nil},
	} {
		got, err := shlex.Split(tt.in)
		if !slices.Equal(got, tt.want) || !errors.Is(err, tt.err) {
			t.Errorf("Split(%q): got %q %v, want %q %v", tt.in, got, err, tt.want, tt.err)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"": "''", "a-b/c=d": "a-b/c=d", "a b": "'a b'", "it's": `'it'"'"'s'`,
		"ü": "'ü'", "$x": "'$x'"} {
		if got := shlex.Quote(in); got != want {
			t.Errorf("Quote(%q): got %s, want %s", in, got, want)
		}
	}
}

func FuzzSplitQuote(f *testing.F) {
	f.Add("a b")
	f.Add(`it's "x" \`)
	f.Fuzz(func(t *testing.T, s string) {
		words, err := shlex.Split(shlex.Quote(s))
		if err != nil || len(words) != 1 || words[0] != s {
			t.Errorf("Split(Quote(%q)): got %q %v", s, words, err)
		}
	})
}

// TestWords compares with list(shlex.shlex(text)) with whitespace_split and those quotes.
func TestWords(t *testing.T) {
	for _, tt := range []struct {
		text, quotes string
		want         []string
	}{
		{"", `'"`, nil},
		{" a\tb\n", `'"`, []string{"a", "b"}},
		{`x"a b" "c d"e`, `"`, []string{`x"a`, `b"`, `"c d"`, "e"}},
		{"it's", `"`, []string{"it's"}},
		{`'a b' c`, "", []string{"'a", "b'", "c"}},
	} {
		got, err := shlex.Words(tt.text, tt.quotes)
		if !slices.Equal(got, tt.want) || err != nil {
			t.Errorf("%q: %q, %v, want %q", tt.text, got, err, tt.want)
		}
	}
	if _, err := shlex.Words(`a "b`, `"`); !errors.Is(err, shlex.ErrNoClosingQuote) {
		t.Errorf("no closing quote: %v", err)
	}
}
