package keys

import (
	"os"
	"sync"
	"time"
)

// maxCached bounds the texts a file cache remembers; past it all are forgotten.
const maxCached = 1 << 16

// fileCache reads small files of one folder again only when their state on disk changed: one lstat otherwise.
type fileCache struct {
	mu    sync.RWMutex
	files map[string]cachedFile
}

type cachedFile struct {
	stamp stamp
	size  int64
	text  string
}

// read returns the text of a regular file and when it was written. ok is false when there is none.
func (c *fileCache) read(path string) (text string, written time.Time, ok bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		c.forget(path)
		return "", time.Time{}, false
	}
	found := stampOf(info)
	c.mu.RLock()
	known, have := c.files[path]
	c.mu.RUnlock()
	if have && known.stamp == found && known.size == info.Size() {
		return known.text, found.mtime, true
	}
	now := time.Now()
	data, err := os.ReadFile(path)
	if err != nil {
		return "", time.Time{}, false
	}
	text = unixLines(string(data))
	if now.Sub(found.mtime) > step(found.mtime) {
		c.remember(path, cachedFile{stamp: found, size: info.Size(), text: text})
	}
	return text, found.mtime, true
}

func (c *fileCache) remember(path string, f cachedFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil || len(c.files) >= maxCached {
		c.files = map[string]cachedFile{}
	}
	c.files[path] = f
}

func (c *fileCache) forget(path string) {
	c.mu.RLock()
	_, have := c.files[path]
	c.mu.RUnlock()
	if !have {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.files, path)
}
