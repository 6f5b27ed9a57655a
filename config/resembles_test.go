package config

import "testing"

func TestResembles(t *testing.T) {
	known := []string{"log_level", "log_level_logfile", "nodegroups", "grains", "timeout", "user", "publisher_acl", "return", "file_roots", "pillar_roots"}
	for _, tt := range []struct{ key, want string }{
		{"loglevel", "log_level"},
		{"log-level", "log_level"},
		{"Log_Level", "log_level"},
		{"log_lvel", "log_level"},
		{"nodegroup", "nodegroups"},
		{"node_groups", "nodegroups"},
		{"publisher_alc", "publisher_acl"},
		{"grain", "grains"},
		{"returns", "return"},
		{"fileroots", "file_roots"},
		// What operators call their own.
		{"grains_extra", ""},
		{"timeout2", ""},
		{"nodegroups.old", ""},
		{"users", "user"},
		{"use", ""},
		{"uses", ""},
		{"my_own", ""},
		{"log_labels", ""},
		{"role", ""},
		{"", ""},
	} {
		if got := resembles(tt.key, known); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.key, got, tt.want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"ab", "ba", 1}, {"abc", "acb", 1}, {"abcd", "abd", 1}, {"kitten", "sitting", 3}, {"same", "same", 0}} {
		if got := editDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
