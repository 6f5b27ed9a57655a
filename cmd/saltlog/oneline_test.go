package saltlog

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain text\twith a tab": "plain text\twith a tab",
		"größer 東京 🙂":            "größer 東京 🙂",
		"a\nb\r\nc":              `a\nb\r\nc`,
		"\x1b[2J\x00\x7f":        `\x1b[2J\x00\x7f`,
		"\xff\xfea":              `\xff\xfea`,
		"\u0085\u009b\u2028\u2029\u202e\u2066\ufeff": `\u0085\u009b\u2028\u2029\u202e\u2066\ufeff`,
	} {
		if got := oneLine(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// FuzzOneLine: a record is one line of harmless text, wherever a peer's bytes stand in it.
func FuzzOneLine(f *testing.F) {
	for _, s := range []string{"", "a\n[CRITICAL] b", "\x1b[31m", "\u2028", "\xff", "a=b \"c\"", "\u202e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		log := slog.New(New(&b, Options{Level: LevelGarbage, Format: FileFormat + " %(bracketname)s", Name: s}))
		log.With("minion", s).Info(s, "jid", s, "err", errors.New(s), "any", []any{s}, slog.Group("g", "tag", s))
		log.Warn("x", "actor", s)
		text := b.String()
		if n := strings.Count(text, "\n"); n != 2 || !strings.HasSuffix(text, "\n") || !utf8.ValidString(text) {
			t.Fatalf("%d lines: %q", n, text)
		}
		for _, r := range text {
			if r != '\n' && r != '\t' && unicode.IsControl(r) || r == 0x2028 || r == 0x2029 {
				t.Fatalf("%q has %U", text, r)
			}
		}
	})
}
