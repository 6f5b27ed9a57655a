package netapi

import (
	"strings"
	"testing"
)

func TestLogPath(t *testing.T) {
	id, token := strings.Repeat("0a", 20), strings.Repeat("Fe", 64)
	for path, want := range map[string]string{
		"": "", "/": "/", "/jobs/20261123163305316797": "/jobs/20261123163305316797", "/ws/" + id: "/ws/-",
		"/ws//" + id + "/": "/ws//-/", id: "-", id + "x" + token: "-x-", "/all_events/" + token: "/all_events/-",
		"/\n\x1b[31m": "/%0A%1B%5B31m", "/" + strings.Repeat("a", 31): "/" + strings.Repeat("a", 31), "/a?b": "/a%3Fb",
	} {
		if got := LogPath(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
