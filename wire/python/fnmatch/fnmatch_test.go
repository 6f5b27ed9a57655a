package fnmatch_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"brine/wire/python/fnmatch"
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
	for _, c := range corpus(t) {
		pattern := c[0].(string)
		g := fnmatch.Compile(pattern)
		for _, s := range c[1].([]any) {
			pair := s.([]any)
			if got := g.Match(pair[0].(string)); got != pair[1] {
				t.Errorf("glob %q on %q: got %v, Python says %v", pattern, pair[0], got, pair[1])
			}
		}
	}
}

func FuzzMatch(f *testing.F) {
	for _, s := range []string{"*", "[!a-z]*", "[]-a]", "a?b[", "[z-a-c]", "[--]"} {
		f.Add(s, "web1")
	}
	f.Fuzz(func(t *testing.T, pattern, s string) {
		fnmatch.Compile(pattern).Match(s)
		if !strings.ContainsAny(pattern, "[]") && pattern == s && !fnmatch.Match(pattern, s) {
			t.Errorf("%q does not match itself", s)
		}
	})
}
