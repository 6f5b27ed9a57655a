package jinja

import (
	"errors"
	"testing"
)

// FuzzRender: any text is compiled and rendered, or refused by an error of ours, and always ends.
func FuzzRender(f *testing.F) {
	for _, c := range readRecorded(f) {
		f.Add(c.Template)
	}
	e := New(Options{Limits: Limits{Steps: 20_000, Memory: 1 << 20, Output: 1 << 18, Depth: 30},
		Loader: files("testdata/files"), YAML: testYAML{}})
	vars := variables(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		var je *Error
		tmpl, err := e.Compile(text)
		if err == nil {
			_, err = tmpl.Render(t.Context(), vars)
		}
		if err != nil && !errors.As(err, &je) {
			t.Errorf("%q: %T %v", text, err, err)
		}
	})
}
