package trust

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"brine/wire/auth"
	"brine/wire/wiretest"
)

var _ auth.TrustStore = Dir{}

func TestDir(t *testing.T) {
	path := t.TempDir()
	d := Dir{Path: path, SignKey: "master_sign"}
	for _, get := range []func() (string, error){d.MasterKey, d.SigningKey, Dir{Path: path}.SigningKey} {
		if text, err := get(); text != "" || err != nil {
			t.Errorf("nothing there: got %q, %v", text, err)
		}
	}
	known := wiretest.Load(t, "edge_v3").Keys()
	for _, pub := range []string{known["master"].Public, known["minion"].Public} {
		if err := d.SetMasterKey(pub); err != nil {
			t.Fatal(err)
		}
		if text, err := d.MasterKey(); text != pub || err != nil {
			t.Errorf("MasterKey: got %q, %v", text, err)
		}
	}
	if err := os.WriteFile(filepath.Join(path, "master_sign.pub"), []byte("sign\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := d.SigningKey(); text != "sign\n" || err != nil {
		t.Errorf("SigningKey: got %q, %v", text, err)
	}
	if names, _ := filepath.Glob(filepath.Join(path, ".*")); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
}

// TestDamaged: a file without a key differs from a missing file, after which the next master would be trusted.
func TestDamaged(t *testing.T) {
	d := Dir{Path: t.TempDir()}
	pub := wiretest.Load(t, "edge_v3").Keys()["master"].Public
	for name, text := range map[string]string{"empty": "", "white": "\n", "half": pub[:len(pub)/2],
		"noise": "\x00\x01\xfe"} {
		if err := os.WriteFile(filepath.Join(d.Path, MinionFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := d.MasterKey(); got != "" || err == nil || !strings.Contains(err.Error(),
			filepath.Join(d.Path, MinionFile)+" is damaged") {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestSetMasterKeyFollowsLink(t *testing.T) {
	path, other := t.TempDir(), t.TempDir()
	target := filepath.Join(other, "key")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(path, SyndicFile)); err != nil {
		t.Fatal(err)
	}
	d := Dir{Path: path, File: SyndicFile}
	if err := d.SetMasterKey("new"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(target); string(text) != "new" || err != nil {
		t.Errorf("behind the link: %q, %v", text, err)
	}
	if info, err := os.Lstat(filepath.Join(path, SyndicFile)); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v", err)
	}
}

func TestDirErrors(t *testing.T) {
	gone := Dir{Path: filepath.Join(t.TempDir(), "gone")}
	if err := gone.SetMasterKey("x"); err == nil {
		t.Error("stored in a directory that does not exist")
	}
	path := t.TempDir()
	if err := os.Mkdir(filepath.Join(path, MinionFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := (Dir{Path: path}).MasterKey(); err == nil {
		t.Error("read a directory as a key")
	}
}

// TestTakeMasterKey: if several keys are offered at the same time, one is trusted by all, and no later one replaces it.
func TestTakeMasterKey(t *testing.T) {
	for name, prepare := range map[string]func(path string) error{
		"nothing there": func(string) error { return nil },
		"a link to what is not there": func(path string) error {
			return os.Symlink(filepath.Join(t.TempDir(), "key"), path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := Dir{Path: t.TempDir()}
			if err := prepare(filepath.Join(d.Path, MinionFile)); err != nil {
				t.Fatal(err)
			}
			known := wiretest.Load(t, "edge_v3").Keys()
			pubs := []string{known["master"].Public, known["minion"].Public}
			var all sync.WaitGroup
			trusted := make([]string, 32)
			for i := range trusted {
				all.Go(func() {
					var err error
					if trusted[i], err = d.TakeMasterKey(pubs[i%2]); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			have, err := d.MasterKey()
			if err != nil || have != pubs[0] && have != pubs[1] {
				t.Fatalf("trusted: %q, %v", have, err)
			}
			for i, got := range trusted {
				if got != have {
					t.Errorf("%d was told of another key: %q", i, got)
				}
			}
			if names, _ := filepath.Glob(filepath.Join(d.Path, ".*")); len(names) != 0 {
				t.Errorf("left behind: %v", names)
			}
		})
	}
	if _, err := (Dir{Path: filepath.Join(t.TempDir(), "gone")}).TakeMasterKey("x"); err == nil {
		t.Error("taken in a directory that does not exist")
	}
}
