package event_test

import (
	"testing"

	"brine/modules/modtest"
	"brine/modules/states/statetest"
	"brine/wire/payload"
)

// TestAsSalt compares with what Salt 3008.3 answered.
func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{})
}

// TestSent: one event is sent with its data, none in test mode, and a bus that is away makes the state fail.
func TestSent(t *testing.T) {
	for _, tt := range []struct {
		deaf, test bool
		result     any
		events     int
	}{{false, false, true, 1}, {false, true, nil, 0}, {true, false, false, 1}} {
		env, _ := statetest.Minion(t, nil, nil)
		host := &modtest.Host{Deaf: tt.deaf}
		env.Host.Events = host
		v, _, err := modtest.Call(t, env, "state.single", []any{"event.send"}, payload.M("name", "my/tag", "data",
			payload.M("a", int64(1)), "with_grains", []any{"os"}, "test", tt.test))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range v.(*payload.Map).All() {
			ret := row.(*payload.Map)
			if ret.Value("result") != tt.result || ret.Map("changes").Value("tag") != "my/tag" {
				t.Errorf("%+v: %v", tt, ret)
			}
		}
		events := host.Events()
		if len(events) != tt.events {
			t.Fatalf("%+v: %d events", tt, len(events))
		}
		if tt.events > 0 {
			data := events[0].Map("data")
			if a, _ := data.Int("a"); a != 1 || data.Map("grains").Str("os") != "Debian" {
				t.Errorf("%+v: sent %v", tt, data)
			}
		}
	}
}
