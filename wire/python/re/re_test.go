package re

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"brine/wire/payload"
)

// corpus is what Python answers: see testdata/generate.py.
func corpus(t *testing.T) (rows [][2]any) {
	t.Helper()
	text, err := os.ReadFile("testdata/corpus.json")
	if err == nil {
		err = json.Unmarshal(text, &rows)
	}
	if err != nil || len(rows) == 0 {
		t.Fatal(len(rows), err)
	}
	return rows
}

func TestAsPython(t *testing.T) {
	// Python reads these, neither engine here does.
	beyond := []string{`a++`, `(?P<1a>x)`, `\N{DIGIT ONE}`}
	for _, c := range corpus(t) {
		pattern := c[0].(string)
		r, err := Compile(pattern)
		if slices.Contains(beyond, pattern) || strings.Contains(pattern, "++") {
			continue
		}
		if (err != nil) != (c[1] == nil) {
			t.Errorf("regexp %q: %v, Python reads it: %v", pattern, err, c[1] != nil)
			continue
		}
		if err != nil {
			continue
		}
		anywhere, err := CompileSearch(pattern)
		if err != nil {
			t.Errorf("regexp %q: %v as a search only", pattern, err)
			continue
		}
		for _, s := range c[1].([]any) {
			row := s.([]any)
			if got, err := r.Match(row[0].(string)); got != row[1] || err != nil {
				t.Errorf("regexp %q on %q: got %v, %v, Python says %v", pattern, row[0], got, err, row[1])
			}
			if got, err := anywhere.Match(row[0].(string)); got != row[2] || err != nil {
				t.Errorf("regexp %q in %q: got %v, %v, Python says %v", pattern, row[0], got, err, row[2])
			}
		}
	}
}

// A pattern built to backtrack for ever must end within the time limit and say so.
func TestTimeLimit(t *testing.T) {
	r, err := Compile(`(?=x*)(a+)+\1b`)
	if err != nil {
		t.Fatal(err)
	}
	hit, err := r.Match(strings.Repeat("a", 60))
	if hit || !errors.Is(err, ErrPattern) {
		t.Errorf("Match: got %v, %v, want a time-out", hit, err)
	}
}

// TestPrograms: what becomes of a pattern is bounded by what it is compiled to.
func TestPrograms(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		fast    bool
	}{
		{"web[0-9]{1,3}", true},
		{"(" + strings.Repeat("web01|db02|", 4000) + "x)", true},
		{`\w{999}`, true},
		{strings.Repeat("(a?){999}", 330), false},
		{strings.Repeat("(?:a|aa){999}", 230), false},
		{strings.Repeat("(a)|", 5000), false},
	} {
		re, err := Compile(tt.pattern)
		if err != nil {
			t.Fatalf("%.20q: %v", tt.pattern, err)
		}
		if (re.fast != nil) != tt.fast {
			t.Errorf("%.20q (%d bytes, program of %d): fast %v", tt.pattern, len(tt.pattern), re.size, re.fast != nil)
		}
	}
	re, err := Compile("(?!b)a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := re.Match(strings.Repeat("a", maxFullText+1)); !errors.Is(err, ErrPattern) {
		t.Errorf("a long text: %v", err)
	}
}

// TestLongPattern: what no tool sends is refused before it is compiled.
func TestLongPattern(t *testing.T) {
	if _, err := Compile(strings.Repeat("a", payload.MaxPattern+1)); !errors.Is(err, ErrPattern) {
		t.Errorf("got %v", err)
	}
}

func FuzzMatch(f *testing.F) {
	for _, s := range []string{"web\\d+", "(?P<n>a)(?P=n)", "[\\w-]", "a{,3}", "(?i)x", "[[:alpha:]]", "\\u00e9"} {
		f.Add(s, "web1")
	}
	f.Fuzz(func(t *testing.T, pattern, s string) {
		r, err := Compile(pattern)
		if err != nil || len(s) > 40 {
			return
		}
		if _, err := r.Match(s); err != nil && !errors.Is(err, ErrPattern) {
			t.Error(err)
		}
	})
}
