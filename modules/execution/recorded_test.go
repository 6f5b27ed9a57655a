package execution_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"brine/config/yaml"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// TestRecorded runs testdata/calls.txt and compares with what Salt 3008.3 answered (testdata/answers_3008.json,
// written by go test -tags interop -run AgainstSalt -record).
func TestRecorded(t *testing.T) {
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip("the answers were taken with bash: ", err)
	}
	if u, err := user.Current(); err != nil || u.Uid != "0" {
		t.Skip("the answers were taken as root")
	}
	t.Setenv("SHELL", "/bin/bash")
	t.Setenv("HOME", "/root")
	dir := confDir(t)
	env, log := ownEnv(t, dir, func(*payload.Map) *payload.Map { return recordedGrains(t, dir) })
	compareRecorded(t, env, log, dir, "testdata/calls.txt", "testdata/answers_3008.json")
}

// compareRecorded runs the calls of a file and compares with the answers that were recorded of them.
func compareRecorded(t *testing.T, env *loader.Env, log *modtest.Log, dir, calls, record string) {
	t.Helper()
	b, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]answer{}
	if err := json.Unmarshal(b, &answers); err != nil {
		t.Fatal(err)
	}
	for i, c := range readCalls(t, calls) {
		name := fmt.Sprintf("%03d %s %q", i, c.fun, c.words)
		c.words = inDir(c.words, dir)
		got := runHere(t, env, log, c).String()
		if c.mark != 0 {
			continue
		}
		want, ok := answers[name]
		if !ok {
			t.Fatalf("no answer to %s: record them again", name)
		}
		if w := strings.ReplaceAll(want.String(), "DIR", dir); got != w && !samePID(got, w) {
			t.Errorf("%s %q:\n got %s\nSalt %s", c.fun, c.words, got, w)
		}
	}
}

// recordedGrains are the grains of the host of the record, as far as the calls read them, and the static ones of
// the configuration directory.
func recordedGrains(t *testing.T, dir string) *payload.Map {
	t.Helper()
	out := payload.M("id", "web1", "os", "Debian", "os_family", "Debian", "osmajorrelease", int64(12), "num_gpus",
		int64(0), "efi", false, "fqdns", []any{}, "ip4_interfaces", payload.M("lo", []any{"127.0.0.1"}))
	text, err := os.ReadFile(filepath.Join(dir, "grains"))
	if err != nil {
		return out
	}
	v, err := yaml.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := v.(*payload.Map); ok {
		out.Update(m)
	}
	return out
}
