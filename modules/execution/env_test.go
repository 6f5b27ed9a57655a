package execution_test

import (
	"slices"
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

// TestOtherKinds: sys tells of runners and returners on every machine, as Salt does, but of those that are disabled.
func TestOtherKinds(t *testing.T) {
	env := execution.NewEnv(execution.Machine{ID: "web1", Version: "3008.3",
		Opts: payload.M("id", "web1", "disable_runners", []any{"survey"})})
	for fun, want := range map[string]map[string]bool{
		"sys.runner_doc":            {"jobs.active": true, "manage.up": true, "survey.hash": false, "test.ping": false},
		"sys.runner_argspec":        {"jobs.active": true, "survey.hash": false},
		"sys.list_runners":          {"jobs": true, "survey": false},
		"sys.returner_doc":          {"local.returner": true, "test.ping": false},
		"sys.list_returners":        {"redis": true, "redis_return": true, "sqlite3": true},
		"sys.list_runner_functions": {"jobs.active": true, "survey.hash": false},
	} {
		args := []any{}
		if fun == "sys.runner_argspec" {
			args = []any{"*"}
		}
		got, _, err := modtest.Call(t, env, fun, args, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, there := range want {
			if has(got, name) != there {
				t.Errorf("%s has %s: %v, want %v", fun, name, !there, there)
			}
		}
	}
}

// has tells whether a list or a map holds a name.
func has(v any, name string) bool {
	if m, ok := v.(*payload.Map); ok {
		return m.Has(name)
	}
	list, _ := v.([]any)
	return slices.Contains(list, any(name))
}
