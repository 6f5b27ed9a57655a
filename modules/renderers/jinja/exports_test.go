package jinja

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"brine/wire/payload"
)

// templates are the sources of a test, by name.
type templates map[string]string

// Load is part of Loader.
func (m templates) Load(_ context.Context, name, _ string) (Source, error) {
	text, ok := m[name]
	if !ok {
		return Source{}, ErrNotFound
	}
	return Source{Text: text, Path: name, Name: name}, nil
}

// TestExports: an import finds the names that Salt 3008.3 lets it find (testdata/exports.py).
func TestExports(t *testing.T) {
	raw, err := os.ReadFile("testdata/exports.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Statements []string
		Look       string
		Rows       [][2]json.RawMessage
	}
	if err := json.Unmarshal(raw, &recorded); err != nil {
		t.Fatal(err)
	}
	if len(recorded.Rows) < 4000 {
		t.Fatalf("%d rows are too few", len(recorded.Rows))
	}
	for _, row := range recorded.Rows {
		var places []int
		var want string
		if json.Unmarshal(row[0], &places) != nil || json.Unmarshal(row[1], &want) != nil {
			t.Fatalf("bad row %s", row)
		}
		text := ""
		for _, i := range places {
			text += recorded.Statements[i]
		}
		sources := templates{"m.jinja": "{% set val = 'M' %}{% set b2 = 'B' %}", "d.yaml": "y: 1\n", "t.jinja": text}
		tmpl, err := New(Options{Loader: sources, YAML: testYAML{}}).Compile(recorded.Look)
		got := ""
		if err == nil {
			got, err = tmpl.Render(t.Context(), map[string]any{"opts": payload.NewMap(0), "saltenv": "base"})
		}
		if err != nil {
			got = "error"
		}
		if strings.TrimSuffix(got, "\n") != want {
			t.Errorf("%s\n got %s (%v)\nwant %s", text, got, err, want)
		}
	}
}
