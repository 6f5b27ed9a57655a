package execution_test

import (
	"os"
	"path/filepath"
	"testing"

	"brine/wire/payload"
)

const (
	hostCalls   = "testdata/hosts.txt"
	hostAnswers = "testdata/hosts_3008.json"
)

// populate makes the users and groups that the calls of hosts.txt look at.
func populate(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		"passwd": "root:x:0:0:root:/root:/bin/bash\nbrine-t1:x:61001:61001:A " +
			"Name,5,1234,5678,else,more:/home/t1:/bin/sh\nbrine-t2:!:61002:7::/:\n",
		"group": "root:x:0:\nbrine-t1:x:61001:brine-t1,brine-t2\nbrine-t2:x:61002:\n",
	} {
		path := filepath.Join(dir, "r", "etc", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRecordedHosts runs testdata/hosts.txt and compares with what Salt 3008.3 answered.
func TestRecordedHosts(t *testing.T) {
	dir := confDir(t)
	populate(t, dir)
	env, log := ownEnv(t, dir, func(*payload.Map) *payload.Map { return recordedGrains(t, dir) })
	compareRecorded(t, env, log, dir, hostCalls, hostAnswers)
}
