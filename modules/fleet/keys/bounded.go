package keys

import (
	"sync/atomic"
	"time"
)

// Bounded reads rule files within a time (wire/auth.RuleFiles): they may lie on a file system that hangs, and a sign-in holds a
// worker. As long as one read hangs, others are not begun. Its methods may be called by many goroutines.
type Bounded struct {
	Files interface {
		Lines(path string) []string
		Names(dir string) []string
	}
	Limit time.Duration     // of one read
	Hangs func(path string) // told once for each read that takes longer; may be nil

	hung atomic.Int64
}

// Lines returns the lines of a file; not known when that takes too long.
func (b *Bounded) Lines(path string) (lines []string, known bool) {
	return b.within(path, b.Files.Lines)
}

// Names returns the names of the files in a directory; not known when that takes too long.
func (b *Bounded) Names(dir string) (names []string, known bool) {
	return b.within(dir, b.Files.Names)
}

func (b *Bounded) within(path string, read func(string) []string) ([]string, bool) {
	if b.hung.Load() > 0 {
		return nil, false
	}
	done := make(chan []string)
	late := make(chan struct{})
	go func() {
		got := read(path)
		select {
		case done <- got:
		case <-late:
			b.hung.Add(-1)
		}
	}()
	timer := time.NewTimer(b.Limit)
	defer timer.Stop()
	select {
	case got := <-done:
		return got, true
	case <-timer.C:
	}
	b.hung.Add(1)
	close(late)
	if b.Hangs != nil {
		b.Hangs(path)
	}
	return nil, false
}
