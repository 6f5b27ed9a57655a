package re

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGroups(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		fold, multi   bool
		want          []Span
	}{
		{`(b+)(x)?(?P<last>c)`, "aäbbc", false, false, []Span{{2, 5}, {2, 4}, {-1, -1}, {4, 5}}},
		{`B`, "ab", true, false, []Span{{1, 2}}},
		{`^b`, "a\nb", false, true, []Span{{2, 3}}},
		{`^b`, "a\nb", false, false, nil},
	} {
		g, err := CompileGroups(tt.pattern, tt.fold, tt.multi)
		if err != nil {
			t.Fatal(err)
		}
		got, err := g.Find([]rune(tt.text), 0)
		if d := cmp.Diff(tt.want, got); d != "" || err != nil {
			t.Errorf("%s in %q: %v (-want +got):\n%s", tt.pattern, tt.text, err, d)
		}
	}
	if _, err := CompileGroups("(", false, false); err == nil {
		t.Error("a broken pattern was taken")
	}
}
