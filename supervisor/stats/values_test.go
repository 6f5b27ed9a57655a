package stats

import (
	"encoding/json"
	"reflect"
	"testing"

	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// TestMapHasTheFieldsOfChild: the reply and the JSON of Child have the same names.
func TestMapHasTheFieldsOfChild(t *testing.T) {
	death := Death{Reason: "x"}
	c := Child{Name: "a", LastDeath: &death, Deaths: []Death{death}, Children: []Child{{Name: "b"}}}
	if diff := cmp.Diff(jsonNames(t, c), mapNames(c.Map())); diff != "" {
		t.Errorf("child (-json +map):\n%s", diff)
	}
	if diff := cmp.Diff(jsonNames(t, c.Handling), mapNames(c.Handling.Map())); diff != "" {
		t.Errorf("spread (-json +map):\n%s", diff)
	}
	names := mapNames(death.Map())
	for _, want := range []string{"time", "reason", "message", "stack", "name", "path", "incarnation", "status"} {
		if !names[want] {
			t.Errorf("death has no %s", want)
		}
	}
}

func jsonNames(t *testing.T, v any) map[string]bool {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for name := range m {
		names[name] = true
	}
	return names
}

func mapNames(m *payload.Map) map[string]bool {
	names := map[string]bool{}
	for _, k := range m.Keys() {
		names[reflect.ValueOf(k).String()] = true
	}
	return names
}
