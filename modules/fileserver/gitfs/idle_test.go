package gitfs

import (
	"log/slog"
	"strings"
	"testing"

	"brine/wire/payload"
)

// TestIdlePillarParameters: what is set for the repository of a pillar and changes nothing is named once, with the
// repository and without its password.
func TestIdlePillarParameters(t *testing.T) {
	const url, secret = "https://user:secret@127.0.0.1/r.git", "secret"
	mapped := func(params ...any) []any { return []any{payload.M("master "+url, params)} }
	for _, tt := range []struct {
		name    string
		remotes []any
		want    []string
	}{
		{"nothing", []any{"master " + url}, nil},
		{"others", mapped(payload.M("root", "r")), nil},
		{"one", mapped(payload.M("ref_types", []any{"tag"})), []string{": ref_types is"}},
		{"both", mapped(payload.M("disable_saltenv_mapping", true), payload.M("ref_types", []any{"tag"})),
			[]string{"ref_types, disable_saltenv_mapping is"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said []string
			_, err := NewPillars(payload.M("cachedir", t.TempDir(), "ext_pillar", []any{payload.M("git", tt.remotes)}),
				func(level slog.Level, text string) {
					if level == slog.LevelWarn {
						said = append(said, text)
					}
				})
			if err != nil {
				t.Fatal(err)
			}
			if len(said) != len(tt.want) || len(said) == 1 && (!strings.Contains(said[0], tt.want[0]) ||
				strings.Contains(said[0], secret)) {
				t.Errorf("said %q, want %q", said, tt.want)
			}
		})
	}
}
