package mount

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPassword: the password of a share is no word of the program.
func TestPassword(t *testing.T) {
	words, env := arguments([]string{"username=u", "password=s3cret", "pass=s3cret2"}, "cifs")
	if text := fmt.Sprint(words...); strings.Contains(text, "s3cret") || env.Str("PASSWD") != "s3cret2" {
		t.Errorf("words %s, environment %v", text, env)
	}
	if got := ends("-o", "x"); got[0] != "--" {
		t.Errorf("a device that looks like an option: %v", got)
	}
}

// TestLines: no value adds a line or a column to the table.
func TestLines(t *testing.T) {
	table := filepath.Join(t.TempDir(), "fstab")
	if err := os.WriteFile(table, []byte("# no line end"), 0o600); err != nil {
		t.Fatal(err)
	}
	entry := entrySet{Name: "/mnt/a b", Device: "x\n/dev/evil / ext4 defaults 0 0", FSType: "ext4",
		Opts: "ro\tx", Dump: int64(0), PassNum: int64(0), Config: table, MatchOn: "auto"}
	for _, want := range []string{"new", "present"} {
		if got, err := setTable(nil, entry); got != want || err != nil {
			t.Errorf("%s: %s, %v", want, got, err)
		}
	}
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	want := "# no line end\n" +
		`x\012/dev/evil\040/\040ext4\040defaults\0400\0400` + "\t\t" + `/mnt/a\040b` + "\text4\t" + `ro\011x` + "\t0 0\n"
	if string(text) != want {
		t.Errorf("got %q\nnot %q", text, want)
	}
	info, err := os.Stat(table)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := drop(entryGone{Name: "/mnt/a b", Config: table}, fstab()); err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile(table); string(text) != "# no line end\n" {
		t.Errorf("after it was taken out: %q", text)
	}
}

// TestLinks: in a folder of others a table that is a link is not written.
func TestLinks(t *testing.T) {
	for _, others := range []bool{false, true} {
		dir := t.TempDir()
		target, link := filepath.Join(t.TempDir(), "target"), filepath.Join(dir, "fstab")
		if err := os.WriteFile(target, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o755)
		if others {
			mode = 0o777
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		_, err := setTable(nil, entrySet{Name: "/a", Device: "x", FSType: "ext4", Opts: "ro", Config: link,
			MatchOn: "auto"})
		text, _ := os.ReadFile(target)
		if (err != nil) != others || (len(text) == 0) != others {
			t.Errorf("others may write there: %v; behind the link: %q, %v", others, text, err)
		}
	}
}
