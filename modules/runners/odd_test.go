package runners_test

import (
	"fmt"
	"strings"
	"testing"

	"brine/wire/payload"
)

// TestOddArguments: no runner panics of a value, as far as a call in a small fleet gets. Those that wait are left out.
func TestOddArguments(t *testing.T) {
	for _, name := range newRig(t).env.Registry.Names() {
		if name == "state.event" || name == "test.sleep" || name == "test.stream" {
			continue
		}
		r := newRig(t)
		f, _ := r.env.Registry.Lookup(name)
		for _, word := range []any{"web1", "*", int64(0), []any{"web1"}} {
			kw := payload.NewMap(0)
			for _, p := range f.Params {
				if p.Required {
					kw.Set(p.Name, word)
				}
			}
			if got := fmt.Sprint(r.run(name, nil, kw).Return); strings.Contains(got, "RuntimeError") {
				t.Errorf("%s(%v): %s", name, word, got)
			}
		}
	}
}
