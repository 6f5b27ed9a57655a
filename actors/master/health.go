package master

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"brine/wire/disk/wholefile"
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

// signs are the files that tell others that a master serves. A master serves without them, too: what the disk does not
// take is written when it does.
type signs struct {
	cacheDir, sockDir string
	log               *slog.Logger
	since             atomic.Int64 // when the master began to serve, in seconds since 1970; 0: it does not yet
	whole             atomic.Bool  // all are written
	failing           atomic.Bool  // that was said
}

// clear removes what an earlier run left.
func (s *signs) clear() {
	dir := filepath.Join(s.cacheDir, healthDir)
	s.tell(errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)))
}

// set writes the files of a master that serves.
func (s *signs) set() {
	s.since.Store(time.Now().Unix())
	s.tell(s.write())
}

// keep is called again and again while the master serves: it touches what shows that, and writes what could not be
// written before.
func (s *signs) keep() {
	err := touch(filepath.Join(s.cacheDir, healthDir, healthAlive))
	if s.since.Load() > 0 && !s.whole.Load() {
		err = errors.Join(err, s.write())
	}
	s.tell(err)
}

// tell says once that files cannot be written, and once that they can.
func (s *signs) tell(err error) {
	switch {
	case err != nil && !s.failing.Swap(true):
		s.log.Error("the files cannot be written that tell others that this master serves", "err", err)
	case err == nil && s.failing.Swap(false):
		s.log.Warn("the files can be written again that tell others that this master serves")
	}
}

func (s *signs) write() error {
	var errs []error
	for _, name := range markerFiles {
		path := filepath.Join(s.sockDir, name)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			// a socket of a Salt master that was killed
			errs = append(errs, fmt.Errorf("mark the master as running: %w", err))
		} else if err := os.WriteFile(path, nil, 0o600); err != nil {
			errs = append(errs, fmt.Errorf("mark the master as running: %w", err))
		}
	}
	dir := filepath.Join(s.cacheDir, healthDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		errs = append(errs, fmt.Errorf("health files: %w", err))
	}
	since := []byte(strconv.FormatInt(s.since.Load(), 10))
	for _, name := range []string{healthStartup, healthReady} {
		if err := wholefile.Write(filepath.Join(dir, name), since, wholefile.Options{Mode: 0o644,
			Umask: true}); err != nil {
			errs = append(errs, fmt.Errorf("health files: %w", err))
		}
	}
	s.whole.Store(len(errs) == 0)
	return errors.Join(errs...)
}

// remove removes the marker files.
func (s *signs) remove() error {
	if s.since.Load() == 0 {
		return nil
	}
	var errs []error
	for _, name := range markerFiles {
		if err := os.Remove(filepath.Join(s.sockDir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
