package ledger

import (
	"strings"
	"testing"
)

// TestWhyKeyFirst: who has no accepted key, or was not meant, is told so while the job is on its way.
func TestWhyKeyFirst(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    Case
		code Code
		text string // part of it
	}{
		{"not sent yet, key pending", meant(func(c *Case) {
			c.Job.Job.Sent = 0
		}, key("pending"), target(Missing)), KeyPending, "salt-key -a m1"},
		{"not sent yet, key denied", meant(func(c *Case) {
			c.Job.Job.Sent = 0
		}, key(""), denied), KeyDenied, "its key is denied"},
		{"not sent, not meant", meant(func(c *Case) {
			c.Job.Job.Failed = "x"
		}, target(NotMeant)), NotTargeted, "did not mean it"},
	} {
		if got := Why(tt.c); got.Code != tt.code || !strings.Contains(got.Text, tt.text) {
			t.Errorf("%s: got %s, %q", tt.name, got.Code, got.Text)
		}
	}
}
