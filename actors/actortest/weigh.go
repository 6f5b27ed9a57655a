package actortest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Burden is what this process holds: bytes, and numbers of things.
type Burden struct{ Heap, Resident, Disk, Goroutines, Descriptors, Timers int64 }

func (w Burden) String() string {
	return fmt.Sprintf("heap %d KiB, resident %d KiB, disk %d KiB, %d goroutines, %d descriptors, %d timers",
		w.Heap>>10, w.Resident>>10, w.Disk>>10, w.Goroutines, w.Descriptors, w.Timers)
}

// Weigh looks at this process and at what lies below a directory. Timers it leaves to who has a clock. Where nothing
// tells of descriptors the test is skipped.
func Weigh(t testing.TB, dir string) (w Burden) {
	t.Helper()
	for range 3 { // what pools hold goes with the second
		runtime.GC()
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	w.Heap, w.Goroutines = int64(mem.HeapAlloc), int64(runtime.NumGoroutine())
	if b, err := os.ReadFile("/proc/self/statm"); err == nil {
		pages, _ := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
		w.Resident = pages * int64(os.Getpagesize())
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("nothing tells of descriptors here")
	}
	w.Descriptors = int64(len(open))
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what goes meanwhile is not there
		if err == nil {
			if info, err := d.Info(); err == nil {
				w.Disk += info.Size()
			}
		}
		return nil
	})
	return w
}

// May is how much a burden may grow in something.
type May struct {
	What string
	Of   func(Burden) int64
	Grow int64
	Peak bool // the heaviest day of each third counts: of what goes up and down, as a file does that is written anew
}

// Steady fails where what was weighed on the days of a month, thirty at least, has grown from the second third to the
// last. The median of each counts, unless it is the peak.
func Steady(t testing.TB, days []Burden, may ...May) {
	t.Helper()
	third := len(days) / 3
	for _, m := range may {
		middle, end := m.of(days[third:2*third]), m.of(days[2*third:])
		t.Logf("%s: %d in the middle of the month, %d at its end", m.What, middle, end)
		if end > middle+m.Grow {
			t.Errorf("%s grows: %d in the middle of the month, %d at its end", m.What, middle, end)
		}
	}
}

// of is what counts of these days.
func (m May) of(days []Burden) int64 {
	all := make([]int64, len(days))
	for i, d := range days {
		all[i] = m.Of(d)
	}
	slices.Sort(all)
	if m.Peak {
		return all[len(all)-1]
	}
	return all[len(all)/2]
}
