package renderers

import (
	"fmt"
	"strings"
	"testing"

	"brine/wire/payload"
)

// benchmarkCompile renders a text of 300 states; testdata/bench.py does the same with Salt.
func benchmarkCompile(b *testing.B, pipe, text string) {
	set := New(Options{Jinja: Jinja{}})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		v, err := set.Compile(b.Context(), pipe, Input{Template: InString, Data: text})
		if m, ok := v.(*payload.Map); err != nil || !ok || m.Len() != 300 {
			b.Fatalf("got %v, %v", v, err)
		}
	}
}

func BenchmarkYAML(b *testing.B) {
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, "state_%d:\n  file.managed:\n    - name: /etc/f%d\n    - mode: 0644\n    - require: "+
			"[pkg: p%d]\n", i, i, i)
	}
	benchmarkCompile(b, "yaml", text.String())
}

func BenchmarkJinjaYAML(b *testing.B) {
	benchmarkCompile(b, "jinja|yaml", "{% for i in range(300) %}\nstate_{{ i }}:\n  file.managed:\n    - name: "+
		"/etc/f{{ i }}\n    - mode: 0644\n"+
		"    - require: [pkg: p{{ i }}]\n{% endfor %}\n")
}
