package config

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSpans: a number that is no limit is refused by key and value; the ends of a span and the defaults are not.
func TestSpans(t *testing.T) {
	for _, s := range spans() {
		if _, err := (Loader{Path: filepath.Join(write(t, "master", s.key+": -7\n"), "master"),
			Getenv: noEnv}).Master(); err == nil ||
			!strings.Contains(err.Error(), s.key) || !strings.Contains(err.Error(), "-7") {
			t.Errorf("%s: -7: got %v", s.key, err)
		}
	}
	m := loadMaster(t, "master", "job_store_compact_percent: 0\n")
	if m.JobStoreCompactPercent != 0 || m.JobStoreCompactMinBytes != 64<<20 {
		t.Errorf("got %d, %d", m.JobStoreCompactPercent, m.JobStoreCompactMinBytes)
	}
}
