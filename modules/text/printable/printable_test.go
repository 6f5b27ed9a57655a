package printable

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	for _, tt := range []struct{ in, line, text, colored string }{
		{"plain text\twith a tab", "", "", ""},
		{"größer 東京 🙂", "", "", ""},
		{"a\nb\r\nc\rd", `a\nb\r\nc\rd`, "a\nb\nc" + `\rd`, "a\nb\nc" + `\rd`},
		{"\x1b[2J\x00\x7f\x1b", `\x1b[2J\x00\x7f\x1b`, `\x1b[2J\x00\x7f\x1b`, `\x1b[2J\x00\x7f\x1b`},
		{"\x1b[0;31mred\x1b[0;0m\x1b[m", `\x1b[0;31mred\x1b[0;0m\x1b[m`, `\x1b[0;31mred\x1b[0;0m\x1b[m`,
			"\x1b[0;31mred\x1b[0;0m\x1b[m"},
		{"\x1b]52;c;QQ==\a", `\x1b]52;c;QQ==\x07`, `\x1b]52;c;QQ==\x07`, `\x1b]52;c;QQ==\x07`},
		{"\x1b[3\x1b[1m", `\x1b[3\x1b[1m`, `\x1b[3\x1b[1m`, `\x1b[3` + "\x1b[1m"},
		{"\xff\xfea\x9b2J", `\xff\xfea\x9b2J`, `\xff\xfea\x9b2J`, `\xff\xfea\x9b2J`},
		{"\u0085\u009b\u2028\u2029\u202e\u2066\ufeff", `\u0085\u009b\u2028\u2029\u202e\u2066\ufeff`,
			`\u0085\u009b\u2028\u2029\u202e\u2066\ufeff`, `\u0085\u009b\u2028\u2029\u202e\u2066\ufeff`},
	} {
		if tt.line == "" {
			tt.line, tt.text, tt.colored = tt.in, tt.in, tt.in
		}
		for i, got := range []string{Line(tt.in), Text(tt.in), Colored(tt.in)} {
			if want := []string{tt.line, tt.text, tt.colored}[i]; got != want {
				t.Errorf("%q: got %q, want %q", tt.in, got, want)
			}
		}
	}
}

// FuzzPrintable: nothing controls a terminal but what may stay, and what is printable once stays so.
func FuzzPrintable(f *testing.F) {
	for _, s := range []string{"", "a\r\n\r\nb", "\x1b[31m", "\x1b[\x1b[0m", "\u2028", "\xff", "\xc2", "\u202e",
		"\x1b[;;;"} {
		f.Add(s)
	}
	sequence := regexp.MustCompile("\x1b\\[[0-9;]*m")
	f.Fuzz(func(t *testing.T, s string) {
		for i, one := range []func(string) string{Line, Text, Colored} {
			text := one(s)
			if again := one(text); again != text {
				t.Fatalf("%q became %q and then %q", s, text, again)
			}
			if i == 2 {
				text = sequence.ReplaceAllString(text, "")
			}
			if i > 0 {
				text = strings.ReplaceAll(text, "\n", "")
			}
			for _, r := range text {
				if r != '\t' && unicode.IsControl(r) || hidden(r) || !utf8.ValidString(text) {
					t.Fatalf("form %d of %q: %q has %U", i, s, text, r)
				}
			}
		}
	})
}

func BenchmarkText(b *testing.B) {
	s := strings.Repeat("a line of what commands print\n", 1000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Text(s)
	}
}
