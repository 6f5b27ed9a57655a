package re_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"brine/wire/python/re"
)

// TestEditsAsPython compares with what re.subn makes of texts (testdata/edits.py).
func TestEditsAsPython(t *testing.T) {
	packed, err := os.ReadFile("testdata/edits.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	if err := json.Unmarshal(packed, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		pattern, letters, text, template := row[0].(string), row[1].(string), row[2].(string), row[3].(string)
		compile := re.CompileEdit
		if row[4].(bool) {
			compile = re.CompileBytes
			pattern, text, template = re.Latin1([]byte(pattern)), re.Latin1([]byte(text)), re.Latin1([]byte(template))
		}
		e, err := compile(pattern, letters)
		if err != nil {
			t.Errorf("%v: %v", row[:5], err)
			continue
		}
		with, err := e.Template(template)
		if err != nil {
			if err.Error() != row[5] {
				t.Errorf("%v: %v", row, err)
			}
			continue
		}
		got, n, err := e.Sub(text, with, 0)
		if want, ok := row[5].([]any); err != nil || !ok || want[0] != got || want[1] != float64(n) {
			t.Errorf("%q %s in %q, bytes %v, by %q: %q %d %v, not %q", pattern, letters, text, row[4], template, got, n, err,
				row[5])
		}
	}
}

// TestEditBounds: a pattern with more ways than there is time ends, and so does a text that is too long for one.
func TestEditBounds(t *testing.T) {
	t.Parallel()
	e, err := re.CompileBytes(`(a+)+\1$`, "m")
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if _, err := e.Search(strings.Repeat("a", 5000) + "b"); !errors.Is(err, re.ErrPattern) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
	if _, err := e.Search(strings.Repeat("a", 5<<20)); !errors.Is(err, re.ErrPattern) {
		t.Errorf("a long text: %v", err)
	}
}
