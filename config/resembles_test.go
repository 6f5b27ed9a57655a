package config

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestResembles(t *testing.T) {
	known := []string{"log_level", "log_level_logfile", "nodegroups", "grains", "timeout", "user", "publisher_acl",
		"return", "file_roots", "pillar_roots"}
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
		// operators' own options
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
		{"log_level", ""}, // known
		{"grains", ""},
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
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"ab", "ba", 1}, {"abc", "acb", 1}, {"abcd", "abd", 1},
		{"kitten", "sitting", 3}, {"same", "same", 0}} {
		if got := editDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestNoSuggestionEqualsTheQuestion: a known option gets no suggestion, and a misspelled one gets another text than
// itself.
func TestNoSuggestionEqualsTheQuestion(t *testing.T) {
	known := slices.Sorted(maps.Keys(standings(t)))
	for _, key := range known {
		if got := resembles(key, known); got != "" {
			t.Errorf("%s is known, and %s is proposed", key, got)
		}
		slip, upper := key[:len(key)-1], strings.ToUpper(key)
		if resembles(slip, known) == slip || resembles(upper, known) == upper {
			t.Errorf("%s or %s is proposed for itself", slip, upper)
		}
	}
	if got := Resembling("api_logfile") + Resembling("api_logfle"); got != "api_logfile" {
		t.Errorf("got %q", got)
	}
}

// TestKnown: which roles have an option.
func TestKnown(t *testing.T) {
	for key, want := range map[string][4]bool{ // known, of a master, known, of a minion
		"api_logfile": {true, true, true, false}, "rest_tornado": {true, true, true, false}, "auth_tries": {true, false,
			true, true}, "id": {true, true, true, true}, "worker_threads": {true, true, true, false}, "my_own": {},
		"": {}, "syndic_master": {true, false, true, false}} {
		a, b := Known(key, roleMaster)
		c, d := Known(key, roleMinion)
		if got := [4]bool{a, b, c, d}; got != want {
			t.Errorf("%q: got %v, want %v", key, got, want)
		}
	}
}
