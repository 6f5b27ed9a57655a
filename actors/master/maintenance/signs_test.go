package maintenance

import (
	"os"
	"path/filepath"
	"testing"

	"brine/actors/actortest"
)

// TestSignsWait: a master whose files about itself cannot be written serves all the same, says so once, and writes them
// when it can.
func TestSignsWait(t *testing.T) {
	log := actortest.NewLog()
	dir := t.TempDir()
	s := NewSigns(filepath.Join(dir, "cache"), filepath.Join(dir, "sock"), log.Logger())
	if err := os.WriteFile(s.cacheDir, nil, 0o600); err != nil { // no folder: the disk takes nothing
		t.Fatal(err)
	}
	s.Clear()
	s.Set()
	for range 5 {
		s.keep()
	}
	if n := len(log.Lines()); n != 1 {
		t.Errorf("%d lines: %q", n, log.Lines())
	}
	if err := os.Remove(s.cacheDir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.sockDir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.keep()
	for _, name := range []string{"cache/health/startup", "cache/health/ready", "cache/health/alive",
		"sock/publish_pull.ipc", "sock/workers.ipc"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	log.Await(t, "can be written again")
	if err := s.Remove(); err != nil {
		t.Error(err)
	}
}
