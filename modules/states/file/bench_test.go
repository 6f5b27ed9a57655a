package file_test

import (
	"fmt"
	"strings"
	"testing"

	"brine/modules/modtest"
	"brine/modules/states/statetest"
	"brine/wire/payload"
)

// BenchmarkManaged applies 300 files that are as they should be: of a source, of a template, and of the SLS.
func BenchmarkManaged(b *testing.B) {
	const files = 300
	for name, how := range map[string]string{"source": "source: salt://a", "contents": "contents: text",
		"template": "source: salt://a\n    - template: jinja"} {
		b.Run(name, func(b *testing.B) {
			var sls strings.Builder
			for i := range files {
				fmt.Fprintf(&sls, "ROOT/w/%d:\n  file.managed:\n    - mode: '0644'\n    - user: root\n    - group: root\n"+
					"    - %s\n", i, how)
			}
			env, _ := statetest.Minion(b, payload.M("base/a", "text\n", "base/t.sls", sls.String()), nil)
			apply := func() {
				if _, code, err := modtest.Call(b, env, "state.apply", []any{"t"}, nil); err != nil || code != 0 {
					b.Fatal(code, err)
				}
			}
			apply()
			for b.Loop() {
				apply()
			}
		})
	}
}
