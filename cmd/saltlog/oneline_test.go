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

// FuzzOneLine: a record makes one line of printable text, whatever bytes of a peer it contains.
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
