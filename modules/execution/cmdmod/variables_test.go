package cmdmod_test

import (
	"os"
	"strings"
	"testing"

	"brine/modules/modtest"
	"brine/wire/payload"
)

// TestOptionsOfEnvironment: a command that runs as another user does not see the options of the minion that stand in
// the environment, unless the caller gives it one.
func TestOptionsOfEnvironment(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run commands as another user")
	}
	t.Setenv("BRINE_MINION__PROXY_PASSWORD", "topsecret")
	t.Setenv("BRINE_MASTER__SHAREDSECRET", "topsecret")
	e := env(t, nil)
	for _, tt := range []struct {
		kw   *payload.Map
		want bool
	}{
		{payload.M("runas", "nobody"), false},
		{payload.M("runas", "nobody", "env", payload.M("BRINE_MINION__PROXY_PASSWORD", "topsecret")), true},
		{payload.M(), true},
	} {
		got, _, err := modtest.Call(t, e, "cmd.run", []any{"env"}, tt.kw.Set("output_loglevel", "quiet"))
		text, _ := got.(string)
		if err != nil || strings.Contains(text, "topsecret") != tt.want || !strings.Contains(text, "PATH=") {
			t.Errorf("%v: got %v %v, want the secret in it: %v", tt.kw, got, err, tt.want)
		}
	}
}
