package keys

import (
	"sync/atomic"
	"time"
)

// Bounded reads rule files within a time (wire/auth.RuleFiles): they may lie on a file system that hangs, and a sign-in
// holds a worker. As long as one read hangs, others are not begun. Its methods may be called by many goroutines.
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
	lines, known, hangs := within(&b.hung, b.Limit, func() []string { return read(path) }, func([]string) {})
	if hangs && b.Hangs != nil {
		b.Hangs(path)
	}
	return lines, known
}

// within does something that may hang, unless something counted in hung does so already. What comes of it after the
// limit is not known to the caller; it goes to late.
func within[T any](hung *atomic.Int64, limit time.Duration, do func() T, late func(T)) (v T, known, hangs bool) {
	if hung.Load() > 0 {
		return v, false, false
	}
	done, over := make(chan T), make(chan struct{})
	go func() {
		got := do()
		select {
		case done <- got:
		case <-over:
			late(got)
			hung.Add(-1)
		}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case got := <-done:
		return got, true, false
	case <-timer.C:
	}
	hung.Add(1)
	close(over)
	return v, false, true
}
