package meter

import (
	"testing"
)

func TestTagPrefix(t *testing.T) {
	for tag, want := range map[string]string{
		"salt/job/20240517120000000001/new": "job", "20240517120000000001": "job", "salt/auth": "auth",
		"minion_start": "other", "minion/refresh/m1": "minion", "salt": "other", "": "other", "syndic/x": "syndic",
		"custom/event": "other", "salt/run/1/ret": "run",
	} {
		if got := tagPrefix(tag); got != want {
			t.Errorf("%q: got %s, want %s", tag, got, want)
		}
	}
}
