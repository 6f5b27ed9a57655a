package yaml

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"brine/wire/payload"
	"brine/wire/wiretest"
)

// bigValue is an integer beyond uint64 inside a map; a payload.Map holds it as text.
var bigValue = regexp.MustCompile(`big (-?\d+)`)

func TestAsSalt(t *testing.T) {
	for _, row := range wiretest.Recorded[[2]string](t) {
		text, want := row[0], row[1]
		v, err := Load([]byte(text))
		got := wiretest.Typed(v, "big")
		if err != nil {
			got = "error " + exception(err)
		}
		if strings.HasPrefix(want, "{") || strings.HasPrefix(want, "[") {
			want = bigValue.ReplaceAllString(want, "str $1")
			got = bigValue.ReplaceAllString(got, "str $1")
		}
		if got != want {
			t.Errorf("%q: got %s (%v), want %s", text, got, err, want)
		}
	}
}

// exception is the class of Python's exception, and its text.
func exception(err error) string {
	e := err.(*Error)
	class := map[Kind]string{ReaderError: "ReaderError", ScannerError: "ScannerError", ParserError: "ParserError",
		ComposerError: "ComposerError", ConstructorError: "ConstructorError"}[e.Kind]
	switch p := e.Problem; {
	case class != "":
	case strings.HasPrefix(p, "maximum recursion"):
		return "RecursionError"
	case strings.HasPrefix(p, "string index"):
		class = "IndexError"
	case strings.HasPrefix(p, "'"):
		class = "KeyError"
	default:
		class = "ValueError"
	}
	return class + ": " + e.Python()
}

func TestScalar(t *testing.T) {
	for text, want := range map[string]any{
		"yes": true, "Off": false, "010": int64(10), "12:30": int64(750), "1e3": "1e3", "1.0e+3": 1000.0,
		"~": nil, "": nil, "2024-01-01": "2024-01-01", "<<": "<<", "=": "=", "0b": "0b", "a: b": "a: b",
		"18446744073709551615": uint64(math.MaxUint64),
	} {
		if got := Scalar(text); !reflect.DeepEqual(got, want) {
			t.Errorf("Scalar(%q): got %#v, want %#v", text, got, want)
		}
	}
}

func TestErrorsNameLine(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		line       int
		problem    string
	}{
		{"duplicate key", "a: 1\nb: 2\na: 3\n", 3, "found conflicting ID 'a'"},
		{"bad block", "a: 1\nb:\n  - x\n c: 3\n", 4, "did not find expected key"},
		{"colon in value", "# c\na: 1\nb: c: d\ne: f\n", 3, "mapping values are not allowed in this context"},
		{"tab", "a:\n\t- b\n", 2, "found character that cannot start any token"},
		{"unknown tag", "a: 1\nb: !foo x\n", 2, "could not determine a constructor for the tag '!foo'"},
		{"two documents", "a: 1\n---\nb: 1\n", 2,
			"expected a single document in the stream, but found another document"},
		{"merge of a scalar", "a: 1\n<<: 2\n", 2,
			"expected a mapping or list of mappings for merging, but found scalar"},
		{"open list", "a: 1\nb: [1,\n", 3, "did not find expected node content"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load([]byte(tt.text))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a *Error", err)
			}
			if text := e.Error(); e.Line != tt.line || !strings.Contains(text, ": "+tt.problem) {
				t.Errorf("got line %d, %q; want line %d, %q", e.Line, text, tt.line, tt.problem)
			}
		})
	}
}

func TestDocumentLines(t *testing.T) {
	doc, err := LoadDocument([]byte("# head\nid: web1\n\nnested:\n  id: x\nlast: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"id": 2, "nested": 4, "last": 6}
	if !reflect.DeepEqual(doc.Lines, want) {
		t.Errorf("got %v, want %v", doc.Lines, want)
	}
}

// laughs is the text of several lists; each contains the previous one nine times.
func laughs(levels int) string {
	var b strings.Builder
	b.WriteString("l0: &l0 [x]\n")
	for i := 1; i <= levels; i++ {
		fmt.Fprintf(&b, "l%d: &l%d [%s]\n", i, i, strings.Repeat("*l"+strconv.Itoa(i-1)+", ", 9))
	}
	return b.String()
}

func TestAliasBomb(t *testing.T) {
	if _, err := Load([]byte(laughs(3))); err != nil {
		t.Errorf("a few aliases: %v", err)
	}
	if _, err := Load([]byte(laughs(30))); err == nil || !strings.Contains(err.Error(), "aliases expand") {
		t.Errorf("got %v, want an error about aliases", err)
	}
}

// TestDepth: collections that are nested too deeply are refused, in the text and through aliases.
func TestDepth(t *testing.T) {
	chain := func(n int) string {
		var b strings.Builder
		b.WriteString("l0: &l0 [x]\n")
		for i := 1; i < n; i++ {
			fmt.Fprintf(&b, "l%d: &l%d [*l%d]\n", i, i, i-1)
		}
		return b.String()
	}
	for _, tt := range []struct {
		text string
		ok   bool
	}{
		{strings.Repeat("[", 900) + strings.Repeat("]", 900), true},
		{strings.Repeat("[", 1100) + strings.Repeat("]", 1100), false},
		{strings.Repeat("- ", 1100), false},
		{strings.Repeat("? ", 1100), false},
		{chain(900), true},
		{chain(1100), false},
		{"&a [*a]", false},
		{"a: &a {b: {c: [*a]}}", false},
		{"a: &a {<<: *a}", false},
	} {
		_, err := Load([]byte(tt.text))
		if tt.ok && err != nil || !tt.ok && (err == nil || !strings.Contains(err.Error(), "maximum recursion depth "+
			"exceeded")) {
			t.Errorf("%.20q...: got %v", tt.text, err)
		}
	}
}

// forms are the scalar forms of PyYAML's resolver, in the order in which they are tried.
var forms = []struct {
	tag   string
	first string
	form  *regexp.Regexp
}{
	{tagBool, "yYnNtTfFoO",
		regexp.MustCompile(`^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$`)},
	{tagFloat, "-+0123456789.",
		regexp.MustCompile(
			`^(?:[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)},
	{tagInt, "-+0123456789",
		regexp.MustCompile(
			`^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)},
	{tagMerge, "<", regexp.MustCompile(`^(?:<<)$`)},
	{tagNull, "~nN", regexp.MustCompile(`^(?:~|null|Null|NULL|)$`)},
	{tagTime, "0123456789",
		regexp.MustCompile(
			`^(?:[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]|[0-9][0-9][0-9][0-9]-[0-9][0-9]?-[0-9][0-9]?(?:[Tt]|[ \t]+)[0-9][0-9]?:[0-9][0-9]:[0-9][0-9](?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9][0-9]?(?::[0-9][0-9])?))?)$`)},
	{tagValue, "=", regexp.MustCompile(`^(?:=)$`)},
}

func resolveByForms(s string) string {
	for _, f := range forms {
		if (s == "" && f.tag == tagNull || s != "" && strings.Contains(f.first, s[:1])) && f.form.MatchString(s) {
			return f.tag
		}
	}
	return tagStr
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"", "1:30.5", "0x_f", "2024-01-01T1:02:03.4 +01:00", "-.inf", "+1_0.e+3", "~", "<<",
		"on"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "\n") {
			t.Skip("a plain scalar holds no line break")
		}
		if got, want := resolve(s), resolveByForms(s); got != want {
			t.Errorf("resolve(%q): got %s, want %s", s, got, want)
		}
	})
}

func FuzzLoad(f *testing.F) {
	for _, row := range wiretest.Recorded[[2]string](f) {
		f.Add([]byte(row[0]))
	}
	f.Add([]byte(laughs(12)))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Load(slices.Clone(b))
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Problem == "" {
				t.Errorf("got error %#v, want a *Error with a problem", err)
			}
			return
		}
		if _, err := payload.Marshal(v); err != nil {
			t.Errorf("%q loads as %v, which cannot be packed: %v", b, v, err)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, "state_%d:\n  file.managed:\n    - name: /etc/f%d\n    - mode: 0644\n    - require: "+
			"[pkg: p%d]\n", i, i, i)
	}
	src := []byte(text.String())
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := Load(src); err != nil {
			b.Fatal(err)
		}
	}
}
