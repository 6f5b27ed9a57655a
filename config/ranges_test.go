package config

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSpans: a number out of range is refused with key and value; the ends of a range and the defaults are accepted.
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
