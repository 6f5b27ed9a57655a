package safefile_test

import (
	"os"
	"sync/atomic"
	"testing"

	"brine/modules/host/safefile"
)

// TestRemoveWhileSwapped: a directory that somebody swaps with a link all the time is never left by the link.
func TestRemoveWhileSwapped(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(dir+"/other", 0o755))
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			_ = os.Rename(dir+"/tree/a", dir+"/tree/b")
			_ = os.Symlink(dir+"/other", dir+"/tree/a")
			_ = os.Remove(dir + "/tree/a")
			_ = os.Rename(dir+"/tree/b", dir+"/tree/a")
		}
	}()
	for range 300 {
		_ = os.MkdirAll(dir+"/tree/a/c", 0o755) // which may be a link by now
		_ = os.WriteFile(dir+"/tree/a/kept", nil, 0o600)
		must(t, os.WriteFile(dir+"/other/kept", nil, 0o600))
		_ = safefile.Remove(dir + "/tree") // it may find the tree changed
		if _, err := os.Stat(dir + "/other/kept"); err != nil {
			t.Fatal(err)
		}
	}
	stop.Store(true)
	<-done
}
