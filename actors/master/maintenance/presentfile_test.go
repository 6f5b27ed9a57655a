package maintenance

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestPresentFile: what is not from the last hour, or damaged, says nothing.
func TestPresentFile(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	for _, tt := range []struct {
		at   time.Time
		want int
	}{{now, 2}, {now.Add(-59 * time.Minute), 2}, {now.Add(-61 * time.Minute), 0}, {now.Add(time.Minute), 0}} {
		if err := writePresent(dir, []any{"a", "b"}, tt.at); err != nil {
			t.Fatal(err)
		}
		if got, err := readPresent(dir, now); err != nil || len(got) != tt.want {
			t.Errorf("written at %v: %v, %v", tt.at, got, err)
		}
	}
	for _, text := range []string{"", "\xc1", "\x01", "\x81\xaeCacheDisk_data\x01"} {
		if err := os.WriteFile(filepath.Join(dir, presentFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _ := readPresent(dir, now); len(got) > 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}
