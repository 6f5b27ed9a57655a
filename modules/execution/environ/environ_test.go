package environ_test

import (
	"os"
	"testing"

	"brine/modules/execution"
	"brine/modules/modtest"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// TestOwn: what a job sets is not there for the next one, nor for the process, and the minion is told only if asked
// for.
func TestOwn(t *testing.T) {
	env := modtest.Env(t, nil)
	env.Registry = execution.Machine{}.Functions()
	host := &modtest.Host{}
	host.Attach(env)
	set := payload.M("T_ENVIRON", "x")
	for _, kw := range []*payload.Map{nil, payload.M("update_minion", true)} {
		if v, _, err := modtest.Call(t, env, "environ.setenv", []any{set}, kw); err != nil || !cmp.Equal(v, set,
			cmp.Comparer(same)) {
			t.Errorf("setenv %v: %v, %v", kw, v, err)
		}
	}
	if v, _, err := modtest.Call(t, env, "environ.get", []any{"T_ENVIRON"}, nil); v != "" || err != nil {
		t.Errorf("the next job sees %v, %v", v, err)
	}
	if v, there := os.LookupEnv("T_ENVIRON"); there {
		t.Errorf("the process sees %q", v)
	}
	events := host.Events()
	if len(events) != 1 || events[0].Str("tag") != "environ_setenv" ||
		!same(events[0].Map("data").Map("environ"), set) {
		t.Errorf("the minion is told %v", events)
	}
	t.Setenv("BRINE_MINION__T_SECRET", "s")
	if v, _, _ := modtest.Call(t, env, "environ.items", nil, nil); v.(*payload.Map).Has("BRINE_MINION__T_SECRET") ||
		!v.(*payload.Map).Has("PATH") {
		t.Errorf("items: %v", v)
	}
}

func same(a, b *payload.Map) bool { return a.Equal(b) }
