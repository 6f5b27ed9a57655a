package jinja

import (
	"os"
	"testing"
)

// BenchmarkStates renders the 300 states of testdata/states.sls, as a run of states does: the text is compiled each
// time. testdata/bench.py does the same with Salt.
func BenchmarkStates(b *testing.B) {
	text, err := os.ReadFile("testdata/states.sls")
	if err != nil {
		b.Fatal(err)
	}
	vars := variables(b)
	b.ReportAllocs()
	for b.Loop() {
		tmpl, err := New(Options{}).Compile(string(text))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := tmpl.Render(b.Context(), vars); err != nil {
			b.Fatal(err)
		}
	}
}

// TestStatesRender keeps the text of the benchmark whole.
func TestStatesRender(t *testing.T) {
	text, err := os.ReadFile("testdata/states.sls")
	if err != nil {
		t.Fatal(err)
	}
	tmpl, err := New(Options{}).Compile(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := tmpl.Render(t.Context(), variables(t)); err != nil || len(out) < 30_000 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}
