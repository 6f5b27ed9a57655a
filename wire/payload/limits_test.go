package payload

import (
	"strings"
	"testing"
)

func TestValidID(t *testing.T) {
	for _, tt := range []struct {
		id   string
		want bool
	}{
		{"web1", true},
		{"web 1.example.org", true},
		{"wéb", true},
		{strings.Repeat("a", MaxID), true},
		{strings.Repeat("a", MaxID+1), false},
		{"", false},
		{".", false},
		{"..", false},
		{"a/b", false},
		{`a\b`, false},
		{"a\x00b", false},
		{"a\nb", false},
		{"a\x7fb", false},
	} {
		if got := ValidID(tt.id); got != tt.want {
			t.Errorf("ValidID(%q): got %v", tt.id, got)
		}
	}
}

func TestShow(t *testing.T) {
	long := strings.Repeat("é", 20<<20)
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"web 1", "web 1"},
		{"web\nforged line", `"web\nforged line"`},
		{"\xff", `"\xff"`},
		{strings.Repeat("a", maxShown), strings.Repeat("a", maxShown)},
		{strings.Repeat("a", maxShown+1), `"` + strings.Repeat("a", maxShown) + `"... (129 bytes)`},
		{long, `"` + long[:maxShown] + `"... (41943040 bytes)`},
	} {
		if got := Show(tt.text); got != tt.want {
			t.Errorf("Show of %d bytes: got %q, want %q", len(tt.text), got, tt.want)
		}
	}
}
