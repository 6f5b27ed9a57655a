package grains

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"brine/wire/payload"
)

// TestCacheThroughLink: the cache is written in the place of a link, not through it.
func TestCacheThroughLink(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(dir, cacheFile)); err != nil {
		t.Fatal(err)
	}
	c := &Collector{opt: Options{Opts: payload.M("cachedir", dir)}}
	c.saveCache(payload.M("os", "Debian"))
	if b, err := os.ReadFile(victim); string(b) != "mine" || err != nil {
		t.Errorf("behind the link: %q, %v", b, err)
	}
	if got := c.loadCache(); got.Str("os") != "Debian" {
		t.Errorf("cached: %v", got)
	}
}

// TestSlowGroupPanics: a fault in a group of grains is the asker's, not the end of the process.
func TestSlowGroupPanics(t *testing.T) {
	began := make(chan struct{})
	c := &Collector{groups: []*lazyGroup{{Group: Group{Slow: true}, get: sync.OnceValue(func() *payload.Map {
		close(began)
		panic("bad table")
	})}}}
	c.startSlow()
	<-began
	defer func() {
		if r := recover(); r != "bad table" {
			t.Errorf("who asks gets %v", r)
		}
	}()
	c.collect()
}
