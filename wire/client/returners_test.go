package client

import "testing"

// TestReturners: every job names the external job cache besides its own returners, as in Salt; only find_job does not.
func TestReturners(t *testing.T) {
	for _, row := range []struct{ fun, ret, ext, want string }{
		{"test.ping", "", "", ""}, {"test.ping", "redis", "", "redis"}, {"test.ping", "", "mysql", "mysql"},
		{"test.ping", "redis", "mysql", "redis,mysql"}, {funFindJob, "", "mysql", ""},
	} {
		c := &Client{opt: Options{ExtJobCache: row.ext}}
		if got := c.returners(Job{Fun: row.fun, Ret: row.ret}); got != row.want {
			t.Errorf("%v: got %q", row, got)
		}
	}
}
