package actortest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// failures notes what a test would have failed with.
type failures struct {
	testing.TB
	said []string
}

func (*failures) Helper()             {}
func (*failures) Logf(string, ...any) {}
func (f *failures) Errorf(format string, a ...any) {
	f.said = append(f.said, fmt.Sprintf(format, a...))
}

// TestSteady: one day that is heavy is no growth, and a third of the month is.
func TestSteady(t *testing.T) {
	heap := May{What: "heap", Of: func(w Burden) int64 { return w.Heap }, Grow: 5}
	for _, tt := range []struct {
		name string
		heap func(day int) int64
		want int
	}{
		{"steady", func(int) int64 { return 100 }, 0},
		{"within what may be", func(day int) int64 { return 100 + int64(day)/3 }, 0},
		{"grows", func(day int) int64 { return 100 + int64(day) }, 1},
		{"grows at the beginning only", func(day int) int64 { return 100 + 10*int64(min(day, 9)) }, 0},
		{"heavy on the last day", func(day int) int64 { return 100 + 1000*int64(day/29) }, 0},
	} {
		days := make([]Burden, 30)
		for i := range days {
			days[i].Heap = tt.heap(i)
		}
		f := &failures{}
		Steady(f, days, heap)
		if len(f.said) != tt.want {
			t.Errorf("%s: failed with %q, want %d of these", tt.name, f.said, tt.want)
		}
	}
}

// TestSteadyPeak: what goes up and down by chance is steady as long as its peaks are.
func TestSteadyPeak(t *testing.T) {
	days := make([]Burden, 30)
	for i := range days {
		days[i].Disk = 60 + int64(i/20)*30 // low days first
	}
	days[11].Disk, days[25].Disk = 100, 101
	disk := May{What: "disk", Of: func(w Burden) int64 { return w.Disk }, Grow: 5}
	median, peak := &failures{}, &failures{}
	Steady(median, days, disk)
	disk.Peak = true
	Steady(peak, days, disk)
	if len(median.said) != 1 || len(peak.said) != 0 {
		t.Errorf("the median says %q, the peak %q", median.said, peak.said)
	}
	days[26].Disk = 110
	if Steady(peak, days, disk); len(peak.said) != 1 {
		t.Error("a higher peak is no growth")
	}
}

// TestWeigh: a larger file weighs more.
func TestWeigh(t *testing.T) {
	dir := t.TempDir()
	before := Weigh(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "file"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	after := Weigh(t, dir)
	if got := after.Disk - before.Disk; got < 1<<20 {
		t.Errorf("a file of a mebibyte weighs %d bytes", got)
	}
	if after.Heap <= 0 || after.Goroutines <= 0 || after.Descriptors <= 0 {
		t.Errorf("this process holds %v", after)
	}
}
