package daemon

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The watcher reports a change when no other change has followed for quietTime, because editors write a file in
// several steps and tools write several files. If changes never stop, it reports after busyTime.
const (
	quietTime = 200 * time.Millisecond
	busyTime  = 2 * time.Second
)

// watcher reports changed files in a set of directories. It watches directories instead of files, because
// editors replace a file by a new one, and a file that does not exist yet cannot be watched. For a directory
// that does not exist yet, it watches the nearest existing one above it.
type watcher struct {
	notify *fsnotify.Watcher
	wanted []string
	links  []string        // links that may change their target
	placed map[string]bool // directories under watch
}

func newWatcher() (*watcher, error) {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return &watcher{notify: n, placed: map[string]bool{}}, nil
}

// want sets the directories, and the links on the way to them. The caller repeats it after every change,
// because a missing directory may exist by then. more means that a further directory is under watch. There were
// no events for earlier changes in it.
func (w *watcher) want(dirs, links []string) (more bool, err error) {
	w.wanted, w.links = dirs, links
	place := map[string]bool{}
	for _, link := range links {
		place[filepath.Dir(link)] = true
	}
	for _, dir := range dirs {
		for ; ; dir = filepath.Dir(dir) {
			if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == filepath.Dir(dir) {
				place[dir] = true
				break
			}
		}
	}
	for dir := range place {
		more = more || !w.placed[dir]
		if bad := w.notify.Add(dir); bad != nil { // also known ones: the name may belong to another directory by now
			err = bad
		}
	}
	for dir := range w.placed {
		if !place[dir] {
			_ = w.notify.Remove(dir) // it may not exist any more
		}
	}
	w.placed = place
	return more, err
}

// concerns tells whether an event at a path can change the content of a wanted directory. The path lies in the
// directory, or it is the directory, one above it, or a link on the way.
func (w *watcher) concerns(path string) bool {
	for _, dir := range w.wanted {
		if filepath.Dir(path) == dir || dir == path || strings.HasPrefix(dir, path+string(filepath.Separator)) {
			return true
		}
	}
	return slices.Contains(w.links, path)
}

// changed waits until files have changed and the changes have stopped. It returns false when ctx ends.
func (w *watcher) changed(ctx context.Context) bool {
	var quiet, busy <-chan time.Time
	for {
		select {
		case e, ok := <-w.notify.Events:
			if !ok {
				return false
			}
			if e.Op == fsnotify.Chmod || !w.concerns(e.Name) {
				continue
			}
			quiet = time.After(quietTime)
			if busy == nil {
				busy = time.After(busyTime)
			}
		case _, ok := <-w.notify.Errors: // events were lost: check all files
			if !ok {
				return false
			}
			quiet = time.After(quietTime)
		case <-quiet:
			return true
		case <-busy:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

func (w *watcher) close() { _ = w.notify.Close() }
