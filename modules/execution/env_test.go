package execution_test

import (
	"testing"

	"brine/modules/execution"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// TestNewEnv: functions run with the options, the grains of the configuration win over those of the machine, and what
// the options disable is not there.
func TestNewEnv(t *testing.T) {
	opts := payload.M("id", "web1", "grains", payload.M("os", "Mine", "site", "ams"), "disable_modules", []any{"sys"})
	env := execution.NewEnv(execution.Machine{ID: "web1", Opts: opts, Version: "3008.3", ZMQVersion: "4.3.5"})
	for name, want := range map[string]any{"os": "Mine", "site": "ams", "kernel": "Linux", "saltversion": "3008.3",
		"zmqversion": "4.3.5"} {
		if got, _, err := modtest.Call(t, env, "grains.get", []any{name}, nil); err != nil || got != want {
			t.Errorf("grains.get %s: %v, %v, want %v", name, got, err, want)
		}
		if got, ok := env.GrainOf(name); !ok || got != want {
			t.Errorf("grain %s alone: %v, want %v", name, got, want)
		}
	}
	if got := env.Opts(); got != opts {
		t.Errorf("options %v", got)
	}
	if _, ok := env.Registry.Lookup("sys.doc"); ok {
		t.Error("a disabled module is there")
	}
}
