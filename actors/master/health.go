package master

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// markerFiles are in sock_dir as long as a master runs. In Salt they are sockets; its command line and HTTP API
// only look whether they exist.
var markerFiles = []string{"publish_pull.ipc", "workers.ipc"}

// Health files of 3008 below cachedir/health: decimal epoch seconds in the first two, the third is touched.
const (
	healthDir     = "health"
	healthStartup = "startup"
	healthReady   = "ready"
	healthAlive   = "alive"
)

// clearHealth removes what an earlier run left.
func clearHealth(cacheDir string) error {
	dir := filepath.Join(cacheDir, healthDir)
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("health files: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("health files: %w", err)
	}
	return nil
}

// mark writes the marker and health files of a master that serves.
func (m *Master) mark(cacheDir, sockDir string) error {
	for _, name := range markerFiles {
		path := filepath.Join(sockDir, name)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // a socket of a Salt master that was killed
			return fmt.Errorf("mark the master as running: %w", err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return fmt.Errorf("mark the master as running: %w", err)
		}
		m.files = append(m.files, path)
	}
	now := []byte(strconv.FormatInt(time.Now().Unix(), 10))
	for _, name := range []string{healthStartup, healthReady} {
		if err := os.WriteFile(filepath.Join(cacheDir, healthDir, name), now, 0o644); err != nil {
			return fmt.Errorf("health files: %w", err)
		}
	}
	return nil
}

// unmark removes the marker files.
func (m *Master) unmark() error {
	var errs []error
	for _, f := range m.files {
		if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
