package grains

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLinksOfOthers: in a folder that somebody else may write root neither reads nor writes through a link; where the
// folder is the operator's own a link stays, and what it leads to changes.
func TestLinksOfOthers(t *testing.T) {
	for _, others := range []bool{false, true} {
		dir := t.TempDir()
		target, link := filepath.Join(t.TempDir(), "target"), filepath.Join(dir, "grains")
		const before, after = "secret: 1\n", "role: web\n"
		if err := os.WriteFile(target, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o755)
		if others {
			mode = 0o777 // as good as being theirs
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		m, err := readFile(link)
		if got := err == nil && m.Has("secret"); got == others {
			t.Errorf("others may write there: %v; read through the link: %v (%v)", others, got, err)
		}
		if err := replaceFile(link, after); err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{false: after, true: before}[others]
		if b, err := os.ReadFile(target); string(b) != want || err != nil {
			t.Errorf("others may write there: %v; behind the link: %q, %v", others, b, err)
		}
		if m, err := readFile(link); err != nil || m.Str("role") != "web" {
			t.Errorf("the grains: %v, %v", m, err)
		}
	}
}
