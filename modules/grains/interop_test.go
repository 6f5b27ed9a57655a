//go:build interop

package grains_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"brine/modules/all"
	"brine/modules/grains"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// TestAgainstSalt compares every grain with those of an installed Salt 3008 on this host.
func TestAgainstSalt(t *testing.T) {
	tool := modtest.SaltProgram(t, "3008", "salt-call")
	dir := t.TempDir()
	conf := fmt.Sprintf("id: web1\nmaster: 127.0.0.1\nroot_dir: %s\nfile_client: local\nenable_fqdns_grains: False\n",
		dir)
	if err := os.WriteFile(filepath.Join(dir, "minion"), []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), tool, "-c", dir, "--local", "--out", "json", "grains.items").Output()
	if err != nil {
		t.Fatalf("salt-call: %v\n%s", err, out)
	}
	var real struct{ Local map[string]any }
	if err := json.Unmarshal(out, &real); err != nil {
		t.Fatal(err)
	}
	ours := grains.New(grains.Options{Version: "3008.3", ZMQVersion: "4.3.4", Opts: payload.M("id", "web1", "master",
		"127.0.0.1", "conf_file", filepath.Join(dir, "minion"))}, all.Grains()).Map()
	problems, err := modtest.GrainDifferences("testdata/differences.json", real.Local, plain(t, ours), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

// plain turns payload values into what encoding/json decodes.
func plain(t *testing.T, v any) map[string]any {
	t.Helper()
	var out map[string]any
	dec := json.NewDecoder(bytes.NewReader(encode(t, v)))
	if err := dec.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(toGo(v))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func toGo(v any) any {
	switch x := v.(type) {
	case *payload.Map:
		out := map[string]any{}
		for k, val := range x.All() {
			out[fmt.Sprint(k)] = toGo(val)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = toGo(x[i])
		}
		return out
	}
	return v
}
