package openfiles

import (
	"os"
	"testing"
)

// TestCount opens files and counts them in both ways.
func TestCount(t *testing.T) {
	if _, err := os.Stat(list); err != nil {
		t.Skip("this system does not tell: ", err)
	}
	const more = 50
	open := func(t *testing.T) {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
	}
	open(t) // the first one makes the files of the runtime's poller
	for name, count := range map[string]func() int{"Count": Count, "countNames": countNames} {
		t.Run(name, func(t *testing.T) {
			before := count()
			for range more {
				open(t)
			}
			if after := count(); before == 0 || after != before+more {
				t.Errorf("%d open files, then %d, want %d more", before, after, more)
			}
		})
	}
}

func BenchmarkCount(b *testing.B) {
	for range 500 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = f.Close() })
	}
	for name, count := range map[string]func() int{"size": Count, "names": countNames} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				count()
			}
		})
	}
}
