package edit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/modules/execution/file/edit"
	"brine/modules/host/safefile"
)

// stranger is a user who owns nothing.
const stranger = 61234

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can give files to others")
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func content(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

// edits are one edit of each kind that changes a file with the lines one and two.
var edits = map[string]func(name string) (*edit.Change, error){
	"replace": func(name string) (*edit.Change, error) {
		return edit.Replace(name, edit.Replacement{Pattern: "one", Repl: "three", Flags: int64(8), Count: int64(0),
			Backup: ".bak"})
	},
	"line": func(name string) (*edit.Change, error) {
		return edit.Line(name, edit.Placing{Content: "three", Mode: "ensure", After: "one", Backup: true},
			time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local))
	},
	"block": func(name string) (*edit.Change, error) {
		return edit.ReplaceBlock(name, edit.Block{Start: "# a", End: "# b", Content: "three", Append: true, Backup: ".bak"})
	},
	"comment": func(name string) (*edit.Change, error) {
		return edit.Comment(name, edit.Commenting{Regex: "one", Char: "#", Backup: ".bak"})
	},
	"append":  func(name string) (*edit.Change, error) { return edit.AppendLines(name, []string{"three"}) },
	"prepend": func(name string) (*edit.Change, error) { return edit.PrependLines(name, []string{"three"}) },
	"write":   func(name string) (*edit.Change, error) { return edit.WriteLines(name, []string{"three"}) },
	"psed":    func(name string) (*edit.Change, error) { return edit.Psed(name, "one", "three", "g", ".bak") },
	"rewrite": func(name string) (*edit.Change, error) {
		return edit.Rewrite(name, func(text string) (string, error) { return text + "three\n", nil })
	},
}

func apply(name string, how func(name string) (*edit.Change, error)) error {
	change, err := how(name)
	if err == nil {
		err = change.Apply()
	}
	return err
}

// TestPlantedLinks: a link of another user leads no edit to a file that is not that user's, and a hard link no content.
func TestPlantedLinks(t *testing.T) {
	needsRoot(t)
	for kind, how := range edits {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			home, secret := dir+"/home", dir+"/secret"
			must(t, os.Mkdir(home, 0o755), os.Chown(home, stranger, stranger), os.WriteFile(secret, []byte("one\ntwo\n"), 0o600),
				os.Symlink("../secret", home+"/soft"), os.Lchown(home+"/soft", stranger, stranger),
				os.Link(secret, home+"/hard"))
			if err := apply(home+"/soft", how); !errors.Is(err, safefile.ErrLink) {
				t.Errorf("a link: %v", err)
			}
			must(t, apply(home+"/hard", how))
			if got := content(t, secret); got != "one\ntwo\n" {
				t.Errorf("the secret became %q", got)
			}
			if content(t, home+"/hard") == "one\ntwo\n" {
				t.Error("the file in the home did not change")
			}
		})
	}
}

// TestAttributes: owner and mode stay, and a backup has them, too, whatever stands in its place.
func TestAttributes(t *testing.T) {
	needsRoot(t)
	for kind, how := range edits {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.WriteFile(dir+"/f", []byte("one\ntwo\n"), 0o600), os.Chown(dir+"/f", stranger, stranger),
				os.WriteFile(dir+"/kept", nil, 0o644), os.Symlink("kept", dir+"/f.bak"))
			must(t, apply(dir+"/f", how))
			entries, err := os.ReadDir(dir)
			must(t, err)
			for _, e := range entries {
				info, err := e.Info()
				must(t, err)
				if e.Name() == "kept" || info.Mode()&os.ModeSymlink != 0 {
					continue
				}
				if st := info.Sys().(*syscall.Stat_t); st.Uid != stranger || info.Mode() != 0o600 {
					t.Errorf("%s is of %d and has %s", e.Name(), st.Uid, info.Mode())
				}
			}
			if content(t, dir+"/kept") != "" {
				t.Error("the backup was written through a link")
			}
		})
	}
}

// TestOtherNames: a file with several names keeps them where its directory is trusted.
func TestOtherNames(t *testing.T) {
	needsRoot(t)
	dir := t.TempDir()
	must(t, os.WriteFile(dir+"/f", []byte("one\ntwo\nmuch more\n"), 0o644), os.Link(dir+"/f", dir+"/g"))
	must(t, apply(dir+"/f", edits["replace"]), apply(dir+"/g", edits["write"]))
	if got := content(t, dir+"/f"); got != "three\n" {
		t.Errorf("it is %q", got)
	}
}

// TestBounds: what is no plain file, and one that is too large, are told from others before anything is read.
func TestBounds(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(dir+"/large", nil, 0o600), os.Truncate(dir+"/large", edit.Most+1),
		syscall.Mkfifo(dir+"/pipe", 0o600), os.Mkdir(dir+"/dir", 0o700))
	for kind, how := range edits {
		if err := apply(dir+"/large", how); err == nil || !strings.Contains(err.Error(), "has more than 67108864 bytes") {
			t.Errorf("%s of a large file: %v", kind, err)
		}
		if err := apply(dir+"/pipe", how); err == nil {
			t.Errorf("%s of a pipe", kind)
		}
		if err := apply(dir+"/dir", how); err == nil {
			t.Errorf("%s of a directory", kind)
		}
	}
}

// TestLongDiffs: a diff of many lines takes no long time, and shows what a short one would.
func TestLongDiffs(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	name := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(name, []byte(long.String()), 0o600))
	for pattern, want := range map[string]string{
		"^line 100000$": "--- \n+++ \n@@ -99998,7 +99998,7 @@\n line 99997\n line 99998\n line 99999\n-line 100000\n+x\n" +
			" line 100001\n line 100002\n line 100003\n",
		"^line .*": "--- \n+++ \n200000 lines are replaced by 200000 others: too many to compare\n",
	} {
		change, err := edit.Replace(name, edit.Replacement{Pattern: pattern, Repl: "x", Flags: int64(8), Count: int64(0)})
		must(t, err)
		if got := change.Diff(); got != want {
			t.Errorf("%s: %q", pattern, got)
		}
	}
}
