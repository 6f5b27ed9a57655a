//go:build interop

package interop

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSaltCP copies files with brine's salt-cp and with that of Salt 3008 to a brine minion and to a Salt
// minion. The tools print the same, and the files arrive.
func TestSaltCP(t *testing.T) {
	t.Parallel()
	onlyWith(t, reference)
	f := newFleet(t, brine, brine, map[string]string{"m1": brine, "m2": reference}, plain)
	src := filepath.Join(f.root, "src")
	random := rand.NewChaCha8([32]byte{2})
	big := make([]byte, 300<<10)
	if _, err := random.Read(big); err != nil {
		t.Fatal(err)
	}
	f.write(filepath.Join(src, "text"), "line\n")
	f.write(filepath.Join(src, "d/big"), string(big))
	f.write(filepath.Join(src, "d/e/small"), "small\n")
	if err := os.MkdirAll(filepath.Join(src, "d/hollow"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(src, "d/e/small"), 0o750); err != nil {
		t.Fatal(err)
	}
	f.startAll()
	f.acceptAll()
	for _, tt := range []struct {
		name  string
		words []string // SRC and DEST stand for folders
	}{
		{"text", []string{"SRC/text", "DEST/x"}},
		{"two texts", []string{"SRC/text", "SRC/d/e/small", "DEST"}},
		{"nowhere", []string{"SRC/text", "DEST/no/where"}},
		{"chunked", []string{"-C", "SRC/d/big", "DEST/big"}},
		{"chunked into a folder", []string{"-C", "SRC/d/big", "DEST/sub/"}},
		{"chunked folder", []string{"-C", "SRC/d", "DEST"}},
		{"not compressed", []string{"-C", "-n", "SRC/d", "DEST"}},
		{"chunked and refused", []string{"-C", "SRC/text", "/proc/nowhere/x"}},
	} {
		f.step(tt.name, func(f *fleet) {
			for _, id := range f.ids {
				shown, left := map[string]string{}, map[string]map[string]string{}
				for _, kind := range []string{reference, brine} {
					dest := filepath.Join(f.root, "dest", strings.ReplaceAll(tt.name, " ", "-"), id, kind)
					if err := os.MkdirAll(dest, 0o755); err != nil {
						f.t.Fatal(err)
					}
					place := strings.NewReplacer("SRC", src, "DEST", dest)
					args := []string{"-t", "60"}
					words := tt.words
					for ; strings.HasPrefix(words[0], "-"); words = words[1:] { // the target follows the options
						args = append(args, words[0])
					}
					args = append(args, id)
					for _, w := range words {
						args = append(args, place.Replace(w))
					}
					r := f.run(kind, "salt-cp", args...)
					shown[kind] = strings.ReplaceAll(r.stdout, dest, "DEST")
					left[kind] = content(f.t, dest, "")
				}
				if diff := cmp.Diff(shown[reference], shown[brine]); diff != "" {
					f.t.Errorf("%s: Salt -, brine +\n%s", id, diff)
				}
				if diff := cmp.Diff(left[reference], left[brine]); diff != "" {
					f.t.Errorf("files on %s: Salt -, brine +\n%s", id, diff)
				}
				if len(left[brine]) < 2 && !strings.Contains(tt.name, "where") && !strings.Contains(tt.name,
					"refused") {
					f.t.Errorf("nothing was copied to %s: %s", id, shown[brine])
				}
			}
		})
	}
}
