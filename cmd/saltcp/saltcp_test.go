package saltcp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/tooltest"
)

// open returns salt-cp with its arguments read.
func open(t *testing.T, argv ...string) (*copying, *tooltest.Client, error) {
	t.Helper()
	c := tooltest.MustOpen(t, parser, "", argv...)
	cp := &copying{Session: c.Session}
	return cp, c, cp.read(c.Session)
}

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		argv []string
		want string // the target and its type, or the error
	}{
		{[]string{"web*", "a", "/b"}, "web* glob"},
		{[]string{"-E", "web.*", "a", "/b"}, "web.* pcre"},
		{[]string{"-L", "a,b", "x", "/b"}, "[a b] list"},
		{[]string{"-L", "a b", "x", "/b"}, "[a b] list"},
		{[]string{"-G", "os:Debian", "x", "/b"}, "os:Debian grain"},
		{[]string{"-C", "web*", "x", "/b"}, "web* glob"}, // chunked; the target is no compound target
		{[]string{"web*"}, "Insufficient arguments"},
		{[]string{"-E", "-L", "web*", "a", "b"}, "mutually exclusive"},
	} {
		cp, _, err := open(t, tt.argv...)
		if got := fmt.Sprint(cp.tgt, " ", cp.tgtType, err); !strings.Contains(got, tt.want) {
			t.Errorf("%q: got %s", tt.argv, got)
		}
	}
}

// TestLook: look finds the content of the sources, and remote the destinations.
func TestLook(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "d/two", "d/e/three"} {
		tooltest.WriteIn(t, filepath.Join(dir, name), name)
	}
	if err := os.MkdirAll(filepath.Join(dir, "d/hollow"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("one", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		src  []string
		dest string
		want []string
	}{
		{[]string{"one"}, "/x", []string{"/x"}},
		{[]string{"one"}, "/x/", []string{"/x/one"}},
		{[]string{"link"}, "/x/", []string{"/x/one"}}, // the real path counts
		{[]string{"one", "d/two"}, "/x", []string{"/x/one", "/x/two"}},
		{[]string{"d"}, "/x", []string{"/x/d/e/three", "/x/d/two", "/x/d/hollow"}},
		{[]string{"d/e"}, "/x", []string{"/x/e/three"}},
		{[]string{"d/hollow"}, "/x", []string{"/x/hollow"}},
	} {
		argv := []string{"-C", "*"}
		for _, s := range tt.src {
			argv = append(argv, filepath.Join(dir, s))
		}
		cp, _, err := open(t, append(argv, tt.dest)...)
		if err != nil {
			t.Fatal(err)
		}
		files, empty, err := cp.look()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range append(files, empty...) {
			got = append(got, cp.remote(f, len(empty) > 0 || len(files) > 1 || strings.HasSuffix(tt.dest, "/")))
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%q to %s: got %q, want %q", tt.src, tt.dest, got, tt.want)
		}
	}
}

// TestRefused: a source that cannot be sent ends the tool before it sends anything.
func TestRefused(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tooltest.WriteIn(t, filepath.Join(dir, "binary"), "\xff\xfe")
	for _, tt := range []struct {
		argv []string
		code int
		text string
	}{
		{[]string{"-C", "*", dir + "/none", "/x"}, exitNoSource, "does not exist"},
		{[]string{"*", dir, "/x"}, 1, "is a directory"},
		{[]string{"*", dir + "/binary", "/x"}, 1, "--chunked"},
	} {
		cp, c, err := open(t, tt.argv...)
		if err != nil {
			t.Fatal(err)
		}
		run := cp.whole
		if cp.Opt.Bool("chunked") {
			run = cp.pieces
		}
		_, err = run(t.Context())
		if code := cp.Call.Finish(err); code != tt.code || !strings.Contains(c.Out.String()+c.Err.String(), tt.text) {
			t.Errorf("%q: %v, %s", tt.argv, err, c.Out)
		}
	}
}
