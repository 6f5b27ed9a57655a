package crypt

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

const testBits = 1024 // quick to make; Salt itself never goes below 2048

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLoadOrGenerate(t *testing.T) {
	dir := t.TempDir()
	k, err := LoadOrGenerate(dir, "minion", testBits, "")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "minion.pem"))
	if err != nil || info.Mode() != 0o400 {
		t.Errorf("minion.pem: %v, %v", info.Mode(), err)
	}
	if got := read(t, filepath.Join(dir, "minion.pub")); got != k.Public().PEM()+"\n" {
		t.Errorf("minion.pub: %s", got)
	}
	again, err := LoadOrGenerate(dir, "minion", testBits, "")
	if err != nil || !again.Public().Equal(k.Public()) {
		t.Errorf("second call: another key, %v", err)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, ".*")); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestLoadOrGenerateWritesMissingPublicKey(t *testing.T) {
	dir := t.TempDir()
	k, err := LoadOrGenerate(dir, "k", testBits, "pass")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "k.pub")); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOrGenerate(dir, "k", testBits, "pass"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(dir, "k.pub")); got != k.Public().PEM()+"\n" {
		t.Errorf("k.pub: %s", got)
	}
	if _, err := LoadOrGenerate(dir, "k", testBits, "wrong"); !errors.Is(err, ErrBadKey) {
		t.Errorf("wrong passphrase: got %v, want ErrBadKey", err)
	}
}

func TestLoadOrGenerateRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bad.pem"), []byte("x"), 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOrGenerate(dir, "bad", testBits, ""); !errors.Is(err, ErrBadKey) {
		t.Errorf("garbage: got %v, want ErrBadKey", err)
	}
	if read(t, filepath.Join(dir, "bad.pem")) != "x" {
		t.Error("the file was replaced")
	}
	if err := os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "dangling.pem")); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOrGenerate(dir, "dangling", testBits, ""); !errors.Is(err, fs.ErrExist) {
		t.Errorf("dangling link: got %v, want fs.ErrExist", err)
	}
	if _, err := LoadOrGenerate(filepath.Join(dir, "none"), "k", testBits, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing directory: got %v, want fs.ErrNotExist", err)
	}
}

// TestLoadMasterLayouts checks the layouts of old releases and of 3008, whose links must stay links.
func TestLoadMasterLayouts(t *testing.T) {
	const id = "web1_master"
	old := t.TempDir()
	k, err := LoadMaster(old, id, testBits, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(old, "master.pem")); err != nil {
		t.Error(err)
	}
	for _, ext := range []string{".pem", ".pub"} { // 3008 does this at its first start
		from, to := filepath.Join(old, "master"+ext), filepath.Join(old, "web1"+ext)
		if err := errors.Join(os.Rename(from, to), os.Symlink(to, from)); err != nil {
			t.Fatal(err)
		}
	}
	for _, asID := range []string{id, "another_master", "", "../x"} {
		again, err := LoadMaster(old, asID, testBits, "")
		if err != nil || !again.Public().Equal(k.Public()) {
			t.Errorf("as %q: another key, %v", asID, err)
		}
	}
	for _, name := range []string{"master.pem", "master.pub"} {
		if info, err := os.Lstat(filepath.Join(old, name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no longer a link: %v", name, err)
		}
	}
	if err := os.Remove(filepath.Join(old, "master.pem")); err != nil {
		t.Fatal(err)
	}
	if again, err := LoadMaster(old, id, testBits, ""); err != nil || !again.Public().Equal(k.Public()) {
		t.Errorf("without the link: another key, %v", err)
	}
}
