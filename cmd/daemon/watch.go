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

// A change of files is looked at when nothing more has come for quietTime: editors write a file in several steps, tools
// write several files. Files that never rest are looked at after busyTime.
const (
	quietTime = 200 * time.Millisecond
	busyTime  = 2 * time.Second
)

// watcher tells of changed files in a set of directories. It watches directories and not files: editors put a new file
// in the place of the old one, and a file that is still to come has no watch. A directory that does not exist yet is
// awaited in the nearest one above it that does.
type watcher struct {
	notify *fsnotify.Watcher
	wanted []string
	links  []string        // that may come to point elsewhere
	placed map[string]bool // directories that are watched
}

func newWatcher() (*watcher, error) {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return &watcher{notify: n, placed: map[string]bool{}}, nil
}

// want sets the directories, and the links on the way to them. It is called again after every change: one that was
// awaited may be there now. more says that another directory is watched than before; what happened there until now was
// not told.
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
		if bad := w.notify.Add(dir); bad != nil { // known ones too: it may be another directory of that name by now
			err = bad
		}
	}
	for dir := range w.placed {
		if !place[dir] {
			_ = w.notify.Remove(dir) // it may be gone
		}
	}
	w.placed = place
	return more, err
}

// concerns tells whether something that happened to a path can change what is in a wanted directory: it lies in one, or
// on the way to one, or is a link on that way.
func (w *watcher) concerns(path string) bool {
	for _, dir := range w.wanted {
		if filepath.Dir(path) == dir || dir == path || strings.HasPrefix(dir, path+string(filepath.Separator)) {
			return true
		}
	}
	return slices.Contains(w.links, path)
}

// changed waits until files have changed and rest again. It returns false when ctx ends.
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
		case _, ok := <-w.notify.Errors: // events were lost: look at everything
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
