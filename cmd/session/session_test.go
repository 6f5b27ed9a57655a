package session

import "testing"

func TestExpandUser(t *testing.T) {
	t.Setenv("HOME", "/home/x")
	for in, want := range map[string]string{"~": "/home/x", "~/a": "/home/x/a", "a~": "a~", "": "",
		"~nosuchuser/a": "~nosuchuser/a"} {
		if got := expandUser(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
