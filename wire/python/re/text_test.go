package re

import (
	"strings"
	"testing"
)

// TestText: a pattern finds in a long text what Python's re.search finds there, by whichever engine.
func TestText(t *testing.T) {
	long := strings.Repeat("0123456789 line\n", 1<<15)
	for _, tt := range []struct {
		pattern, letters, text string
		want, fails            bool
	}{
		{`line$`, "", "line\nmore", false, false}, {`line$`, "m", "line\nmore", true, false}, {`line$`, "", "line\n",
			true, false},
		{`^more`, "", "line\nmore", false, false}, {`^more`, "m", "line\nmore", true, false},
		{`e.m`, "", "line\nmore", false, false}, {`e.m`, "s", "line\nmore", true, false},
		{`LINE`, "", "line", false, false}, {`LINE`, "i", "line", true, false},
		{`\w+ß`, "", "Straß", true, false}, {`^\w+$`, "a", "Straße", false, false}, {`STRASSE`, "i", "straße", false,
			false}, {`É`, "i", "é", true, false},
		{`a\sb`, "", "a\vb", true, false}, {`a\sb`, "a", "a\vb", true, false}, {`a\sb`, "a", "a\x1cb", false, false},
		{`(.)\1`, "", "abb", true, false}, {`a(?=c)`, "", "abac", true, false},
		{`end$`, "m", long + "end", true, false}, {`nowhere`, "", long + "ß", false, false}, {`(\d)\1`, "", long, false,
			true},
	} {
		re, err := CompileText(tt.pattern, tt.letters)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		if got, err := re.Search(tt.text); got != tt.want || (err != nil) != tt.fails {
			t.Errorf("%s (%s) in %.20q: %v, %v", tt.pattern, tt.letters, tt.text, got, err)
		}
	}
	if _, err := CompileText(`(`, ""); err == nil {
		t.Error("a pattern that is none is taken")
	}
}
