package reqserver

import (
	"strings"
	"testing"
)

func TestPools(t *testing.T) {
	lane := func(name string, n int, commands ...string) pool { return pool{name, n, commands} }
	for _, tt := range []struct {
		name string
		list []pool
		want string
	}{
		{"one", []pool{lane("a", 1, "*")}, ""},
		{"two", []pool{lane("a", 1, "*"), lane("b", 2, "_auth")}, ""},
		{"no workers", []pool{lane("a", 0, "*")}, "worker_count 0 is below 1"},
		{"nobody takes the rest", []pool{lane("a", 1, "_auth")}, `no pool takes "*"`},
		{"two take the rest", []pool{lane("a", 1, "*"), lane("b", 1, "*")}, `command "*" stands in two pools`},
		{"a command twice", []pool{lane("a", 1, "*", "x"), lane("b", 1, "x")}, `command "x" stands in two pools`},
		{"none", nil, `no pool takes "*"`},
	} {
		_, err := newPools(tt.list)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}
