package execution_test

import (
	"os"
	"os/user"
	"path/filepath"
	"testing"

	"brine/wire/payload"
)

const (
	machineCalls   = "testdata/machine.txt"
	machineAnswers = "testdata/machine_3008.json"
)

// furnish makes what the calls of machine.txt look at.
func furnish(t *testing.T, dir string) {
	t.Helper()
	t.Setenv("BRINE_T_SET", "here")
	for name, text := range map[string]string{} {
		path := filepath.Join(dir, "m", name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestRecordedMachine runs testdata/machine.txt and compares with what Salt 3008.3 answered.
func TestRecordedMachine(t *testing.T) {
	if u, err := user.Current(); err != nil || u.Uid != "0" {
		t.Skip("the answers were taken as root")
	}
	t.Setenv("HOME", "/root")
	dir := confDir(t)
	furnish(t, dir)
	env, log := ownEnv(t, dir, func(*payload.Map) *payload.Map { return recordedGrains(t, dir) })
	compareRecorded(t, env, log, dir, machineCalls, machineAnswers)
}
