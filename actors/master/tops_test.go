package master

import (
	"os"
	"path/filepath"
	"testing"

	"brine/wire/payload"
)

// TestMasterTops: a minion gets its own states by ext_nodes, whatever its options say, and a program that fails gives
// none.
func TestMasterTops(t *testing.T) {
	script := filepath.Join(t.TempDir(), "nodes")
	text := "#!/bin/sh\n[ \"$1\" != m3 ] || exit 1\necho \"{classes: [common, for_$1], environment: dev}\"\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "master_tops: {ext_nodes: "+script+"}")
	m1, m2, m3 := r.minion("m1"), r.minion("m2"), r.minion("m3")
	equal(t, "its own", m1.ask(cmd("_master_tops", "opts", payload.M("id", "m1"))),
		payload.M("dev", []any{"common", "for_m1"}))
	equal(t, "not those of another",
		m2.ask(cmd("_master_tops", "opts", payload.M("id", "m1", "grains", payload.M("id", "m1")))),
		payload.M("dev", []any{"common", "for_m2"}))
	equal(t, "a failure", m3.ask(cmd("_master_tops", "opts", payload.M("id", "m3"))), payload.NewMap(0))
	for _, odd := range []any{nil, 7, "m1", payload.M("grains", 1)} {
		equal(t, "odd options", m1.ask(cmd("_master_tops", "opts", odd)), payload.NewMap(0))
	}
}
