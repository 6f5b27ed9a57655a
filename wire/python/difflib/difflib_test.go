package difflib_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"brine/wire/python/difflib"

	"github.com/google/go-cmp/cmp"
)

// recorded is a row of diffs.json: two lists, their names, the unified diff and the operations.
type recorded struct {
	a, b     []string
	from, to string
	diff     string
	ops      [][]any
}

func rows(t *testing.T) (out []recorded) {
	t.Helper()
	packed, err := os.ReadFile("testdata/diffs.json")
	if err != nil {
		t.Fatal(err)
	}
	var raw [][]json.RawMessage
	if err := json.Unmarshal(packed, &raw); err != nil {
		t.Fatal(err)
	}
	for _, row := range raw {
		var r recorded
		for i, to := range []any{&r.a, &r.b, &r.from, &r.to, &r.diff, &r.ops} {
			if err := json.Unmarshal(row[i], to); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, r)
	}
	return out
}

// TestAsPython compares operations and diffs with those of real Python.
func TestAsPython(t *testing.T) {
	kinds := map[difflib.Kind]string{difflib.Equal: "equal", difflib.Replace: "replace", difflib.Delete: "delete",
		difflib.Insert: "insert"}
	for i, r := range rows(t) {
		ops := [][]any{}
		for _, o := range difflib.New(r.a, r.b).Ops() {
			ops = append(ops, []any{kinds[o.Kind], float64(o.I1), float64(o.I2), float64(o.J1), float64(o.J2)})
		}
		if diff := cmp.Diff(r.ops, ops); diff != "" {
			t.Errorf("row %d, operations (-Python +here)\n%s", i, diff)
		}
		got := strings.Join(difflib.Unified(r.a, r.b, r.from, r.to), "")
		if diff := cmp.Diff(r.diff, got); diff != "" {
			t.Errorf("row %d (-Python +here)\n%s", i, diff)
		}
	}
}

// TestOfTexts: the last line has no line end, and no remark on that.
func TestOfTexts(t *testing.T) {
	if got, want := difflib.OfTexts("a\nb", "a\nc", "", ""), "--- \n+++ \n@@ -1,2 +1,2 @@\n a\n-b+c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLarge: files of many lines are compared in a moment.
func TestLarge(t *testing.T) {
	var a, b []string
	for i := range 50_000 {
		line := strings.Repeat("x", i%7) + string(rune('a'+i%26)) + time.Duration(i).String() + "\n"
		a = append(a, line)
		if i%100 != 0 {
			b = append(b, line)
		}
	}
	begin := time.Now()
	difflib.Unified(a, b, "", "")
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

func FuzzUnified(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		if got := difflib.OfTexts(a, b, "", ""); (got == "") != (a == b) {
			t.Errorf("%q and %q: %q", a, b, got)
		}
	})
}
