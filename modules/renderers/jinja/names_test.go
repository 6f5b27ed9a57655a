package jinja

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"
)

// TestNames: the engine has the filters, tests and globals that a template of Salt 3008.3 finds, and no others.
func TestNames(t *testing.T) {
	raw, err := os.ReadFile("testdata/names.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]string
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	all := builtins()
	for kind, got := range map[string][]string{
		"filters": slices.Sorted(maps.Keys(all.filters)), "tests": slices.Sorted(maps.Keys(all.tests)),
		"globals": slices.Sorted(maps.Keys(all.globals)),
	} {
		if len(want[kind]) < 10 {
			t.Errorf("%s: only %d were recorded", kind, len(want[kind]))
		}
		for _, name := range want[kind] {
			if !slices.Contains(got, name) {
				t.Errorf("%s: %s is missing", kind, name)
			}
		}
		for _, name := range got {
			if !slices.Contains(want[kind], name) {
				t.Errorf("%s: Salt has no %s", kind, name)
			}
		}
	}
}
