package jinja

import (
	"strings"
	"testing"
)

// TestNoHost: without a Host the filters that look at the machine refuse by name.
func TestNoHost(t *testing.T) {
	e := New(Options{})
	for name := range hostFilters() {
		args := ""
		if name == "dns_check" {
			args = "(1)"
		}
		tmpl, err := e.Compile("{{ '/etc/passwd'|" + name + args + " }}")
		if err != nil {
			t.Fatal(err)
		}
		out, err := tmpl.Render(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), "the filter '"+name+"' is not there") {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
}
