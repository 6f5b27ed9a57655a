package minion

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/supervisor/stats"
	"brine/wire/payload"
)

// TestEngines: an engine of a minion is a child of it, and what it fires goes to the master; without one, to its own
// bus.
func TestEngines(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	program := `#!/bin/sh
read start
while :; do
	echo '{"kind": "call", "id": 1, "fun": "test.echo", "args": ["x"]}'
	read result
	echo '{"tag": "my/tag", "data": '"$result"'}'
	sleep 0.1
done
`
	if err := os.WriteFile(path, []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, fmt.Sprintf("engines: [{talker: {program: %q}}]\n", path)).up()
	var data *payload.Map
	r.master().await(t, "the event of an engine", func() bool {
		for _, load := range r.master().requests {
			if payload.Command(load) == payload.CmdMinionEvent && load.Str("tag") == "my/tag" {
				data = load.Map("data")
			}
		}
		return data != nil
	})
	if data.Str("kind") != "result" || data.Str("return") != "x" {
		t.Errorf("the master got %v", data)
	}
	for _, c := range r.m.top.Snapshot() {
		if c.Name == "Engine-talker" && c.State == stats.StateRunning {
			return
		}
	}
	t.Error("there is no Engine-talker that runs")
}

// TestEngineUnknown: a minion with an engine that is not there does not start.
func TestEngineUnknown(t *testing.T) {
	r := newRig(t, "engines: [napalm_syslog]\n")
	if m, err := Start(r.opt); err == nil || !strings.Contains(err.Error(), "there is no engine napalm_syslog here") {
		t.Errorf("got %v, %v", m, err)
	}
}
