package attack

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"brine/wire/payload"
)

// hostileIDs are invalid ids of minions. They would do harm as file names, log lines, keys of maps or arguments
// of tools.
var hostileIDs = []any{
	"", ".", "..", "../x", "/etc/passwd", "a/b", `a\b`, "a\x00b", "a\nb", "a\rb", "a\x1b[2Jb", "a\x7f", "a\u0085b",
	"a\u2028b", strings.Repeat("i", 256), strings.Repeat("i", 70_000), "a/../../minions/honest", "\xff\xfe",
	int64(7), 1.5, true, nil, []any{"x"}, payload.M("x", "y"), []byte("bytes\n"),
}

// TestHostileIDs signs in with invalid ids. No file appears, nothing outside the key folders changes, and no
// log line of the master contains a control character or a whole id of 70,000 letters.
func TestHostileIDs(t *testing.T) {
	s := newBareSite(t, "auto_accept: False\n")
	before := s.files("m/etc")
	key, err := oneKey()
	if err != nil {
		t.Fatal(err)
	}
	p := s.stranger()
	for _, id := range hostileIDs {
		for version := range 4 {
			_, err := p.askVersion(patience, version, payload.M("cmd", payload.CmdAuth, "id", id, "nonce", "n", "pub",
				key.Public().PEM(), "token", []byte("t"), "enc_algo", "OAEP-SHA1", "sig_algo", "PKCS1v15-SHA1"))
			if err != nil {
				t.Errorf("%.40q, version %d: %v", id, version, err)
			}
		}
	}
	if after := s.files("m/etc"); !slices.Equal(before, after) {
		t.Errorf("key folders: before %q, after %q", before, after)
	}
	s.good()
	checkLines(t, s.logOf(s.master))
}

// checkLines fails the test for lines that no log may contain.
func checkLines(t *testing.T, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > 4096 {
			t.Errorf("a line of %d bytes: %.120q", len(line), line)
		}
		if strings.ContainsFunc(line, func(r rune) bool {
			return unicode.IsControl(r) && r != '\t' || r == '\u2028' || r == '\u2029'
		}) {
			t.Errorf("control characters in %.200q", line)
		}
	}
}
