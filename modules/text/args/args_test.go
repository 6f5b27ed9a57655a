package args

import (
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/wire/payload"
	"brine/wire/wiretest"
)

// bigValue is an integer beyond uint64 inside a map, which a payload.Map holds as text.
var bigValue = regexp.MustCompile(`big (-?\d+)`)

func TestAsSalt(t *testing.T) {
	for _, row := range wiretest.Recorded[[3]string](t) {
		word, kind, want := row[0], row[1], row[2]
		var got string
		if kind == "word" {
			got = wiretest.Typed(Yamlify(word), "big")
		} else {
			got = wiretest.Typed(Parse([]string{word}, nil), "big")
		}
		if strings.Contains(want, "{") {
			want, got = bigValue.ReplaceAllString(want, "str $1"), bigValue.ReplaceAllString(got, "str $1")
		}
		if got != want {
			t.Errorf("%s %q: got %s, want %s", kind, word, got, want)
		}
	}
}

func TestYamlify(t *testing.T) {
	for _, tt := range []struct {
		word string
		want any
	}{
		{"1", int64(1)}, {"1.50", 1.5}, {"007", int64(7)}, {"010", int64(10)}, {"0x10", int64(16)}, {"0x1f", int64(31)},
		{"true", true}, {"yes", true}, {"on", true}, {"no", false}, {"off", false}, {"null", nil}, {"~", nil},
		{"None", nil}, {"# c", "# c"}, {"2024-01-01", "2024-01-01"}, {"1e3", "1e3"}, {"1:30", int64(90)},
		{"12:30", int64(750)}, {"12:30:45", int64(45045)}, {`"q"`, "q"}, {`"1"`, "1"}, {"=x", "=x"},
		{"two words", "two words"}, {"0o17", "0o17"}, {"{}", payload.NewMap(0)}, {"{'a': 1}", payload.M("a", int64(1))},
		{"a: b", "a: b"}, {"1_000", "1_000"}, {"%x", "%x"}, {"!x", "!x"}, {"@y", "@y"}, {"[1", "[1"}, {"", ""},
		{" ", " "}, {"---", "---"}, {"...", "..."}, {"|", "|"}, {"!", "!"}, {"a\tb", "a\tb"},
		{"[1, a] # c", []any{int64(1), "a"}},
	} {
		if diff := cmp.Diff(tt.want, Yamlify(tt.word)); diff != "" {
			t.Errorf("Yamlify(%q): (-want +got)\n%s", tt.word, diff)
		}
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name    string
		words   []string
		noParse []string
		want    []any
	}{
		{"none", nil, nil, []any{}},
		{"keywords go last", []string{"a=1", "x", "b=c=d"}, nil, []any{"x", payload.M("__kwarg__", true, "a", int64(1),
			"b", "c=d")}},
		{"later keyword wins", []string{"a=1", "a=2"}, nil, []any{payload.M("__kwarg__", true, "a", int64(2))}},
		{"not typed", []string{"a=1", "b=1"}, []string{"a"}, []any{payload.M("__kwarg__", true, "a", "1", "b",
			int64(1))}},
		{"empty value", []string{"e="}, nil, []any{payload.M("__kwarg__", true, "e", "")}},
		{"job id", []string{"20261120105323573103"}, nil, []any{"20261120105323573103"}},
		{"line break behind =", []string{"a=b\nc"}, nil, []any{"a=b\nc"}},
		{"no keywords", []string{"a==b", "9a=b", "=x"}, nil, []any{"a==b", "9a=b", "=x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Parse(tt.words, tt.noParse)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	marked := payload.M("__kwarg__", true, "k", "v")
	pos, kw := Split([]any{"1", "k=w", marked, payload.M("a", "b"), int64(3), payload.M("__kwarg__", "x")}, nil)
	if diff := cmp.Diff([]any{int64(1), payload.M("a", "b"), int64(3), payload.M("__kwarg__", "x")}, pos); diff != "" {
		t.Errorf("positional (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(payload.M("k", "v"), kw); diff != "" {
		t.Errorf("keywords (-want +got)\n%s", diff)
	}
	if !marked.Has("__kwarg__") {
		t.Error("the input map lost its mark")
	}
}

func FuzzYamlify(f *testing.F) {
	for _, row := range wiretest.Recorded[[3]string](f) {
		f.Add(row[0])
	}
	f.Fuzz(func(t *testing.T, word string) {
		switch v := Yamlify(word).(type) {
		case nil, bool, int64, uint64, *big.Int, float64, string:
		case []any:
			if !strings.HasPrefix(word, "[") && !strings.Contains(word, "#") {
				t.Errorf("%q became a list", word)
			}
		case *payload.Map:
			if !strings.HasPrefix(word, "{") && !strings.Contains(word, "#") {
				t.Errorf("%q became a map", word)
			}
		case []byte:
			if !strings.Contains(word, "#") {
				t.Errorf("%q became bytes", word)
			}
		default:
			t.Errorf("%q became %T", word, v)
		}
		Parse([]string{word}, nil)
	})
}

func BenchmarkParse(b *testing.B) {
	words := []string{"web1", "count=3", "42", "{a: [1, 2]}", "pkg=nginx"}
	for b.Loop() {
		Parse(words, nil)
	}
}
