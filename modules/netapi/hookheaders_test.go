package netapi

import (
	"net/http"
	"testing"

	"brine/wire/payload"
)

// TestHookHeaders: by name, several as one text, the secret in none, wherever it stands.
func TestHookHeaders(t *testing.T) {
	header := http.Header{"X-Auth-Token": {"s3cret"}, "Cookie": {"a=1; session_id=s3cret", "again=s3crets3cret"},
		"Accept": {"x", "y"}, "Empty": {""}}
	want := payload.M("Host", "h", "Accept", "x, y", "Cookie", "a=1; session_id=********, again=****************",
		"Empty", "", "X-Auth-Token", "********")
	if got := HookHeaders(payload.M("Host", "h"), header, ", ", "s3cret"); !got.Equal(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got := HookHeaders(payload.M(), header, ",", ""); got.Str("Accept") != "x,y" ||
		got.Str("X-Auth-Token") != "s3cret" {
		t.Errorf("without a secret: %v", got)
	}
}
