package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/modtest"
	"brine/modules/states/statetest"
	"brine/wire/payload"
)

// applied applies archive.extracted to an archive, and gives the comment of a failure.
func applied(t *testing.T, name string, packed []byte, more string) (comment, dir string) {
	t.Helper()
	env, dir := statetest.Minion(t, payload.M("base/t.sls", "x:\n  archive.extracted:\n    - name: ROOT/w/x\n    - "+
		"source: ROOT/"+
		name+"\n    - enforce_toplevel: False\n"+more), nil)
	if err := os.WriteFile(filepath.Join(dir, name), packed, 0o644); err != nil {
		t.Fatal(err)
	}
	v, _, err := modtest.Call(t, env, "state.apply", []any{"t"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ret, _ := v.(*payload.Map)
	for _, one := range ret.All() {
		one := one.(*payload.Map)
		if one.Value("result") != false {
			t.Errorf("got %v, want a failure", one)
		}
		comment = one.Str("comment")
	}
	return comment, dir
}

func tarOf(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		h.Mode = 0o644
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, h.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHarm: an archive that would write elsewhere, or make devices, is refused before anything is written.
func TestHarm(t *testing.T) {
	file := func(name string) tar.Header { return tar.Header{Name: name, Size: 3, Typeflag: tar.TypeReg} }
	link := func(name, to string) tar.Header {
		return tar.Header{Name: name, Linkname: to, Typeflag: tar.TypeSymlink}
	}
	for name, headers := range map[string][]tar.Header{
		"parent":      {file("fine"), file("../evil")},
		"inside":      {file("a/../../evil")},
		"absolute":    {file("/tmp/evil")},
		"link out":    {link("a", "../.."), file("a/evil")},
		"link root":   {link("a", "/tmp"), file("a/evil")},
		"links":       {link("a", "."), link("a/b", ".."), file("b/evil")},
		"hard link":   {{Name: "a", Linkname: "../../etc/passwd", Typeflag: tar.TypeLink}},
		"device":      {{Name: "a", Typeflag: tar.TypeBlock, Devmajor: 8}},
		"pipe":        {{Name: "a", Typeflag: tar.TypeFifo}},
		"chain of up": {link("d/e", "../.."), file("x")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			comment, dir := applied(t, "t.tar", tarOf(t, headers...), "")
			if !strings.Contains(comment, "cannot be extracted: the archive is not unpacked") {
				t.Errorf("got %q", comment)
			}
			if _, err := os.Lstat(filepath.Join(dir, "w", "x")); err == nil {
				t.Error("something was made")
			}
		})
	}
}

// TestZipSlip is the same for zip.
func TestZipSlip(t *testing.T) {
	for name, mode := range map[string]fs.FileMode{"../evil": 0o644, "/tmp/evil": 0o644, "a/../../evil": 0o644} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		h := &zip.FileHeader{Name: name}
		h.SetMode(mode)
		if _, err := w.CreateHeader(h); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		comment, dir := applied(t, "t.zip", b.Bytes(), "")
		if !strings.Contains(comment, "the archive is not unpacked") {
			t.Errorf("%s: got %q", name, comment)
		}
		if found, _ := filepath.Glob(dir + "/evil"); found != nil {
			t.Errorf("%s: it was written", name)
		}
	}
}

// TestZipLink: a link of a zip archive does not lead out, even where that shows only when it is read.
func TestZipLink(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: "a"}
	h.SetMode(fs.ModeSymlink | 0o777)
	f, err := w.CreateHeader(h)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.Write([]byte("../.."))
	if _, err := w.Create("a/evil"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	comment, dir := applied(t, "t.zip", b.Bytes(), "")
	if _, err := os.Lstat(dir + "/evil"); err == nil || !strings.Contains(comment, `goes through the link "a"`) {
		t.Errorf("got %q", comment)
	}
}

// TestBomb: an archive that unpacks to far more than it is, is refused.
func TestBomb(t *testing.T) {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	w := tar.NewWriter(z)
	const size int64 = 1 << 31
	if err := w.WriteHeader(&tar.Header{Name: "zeros", Size: size, Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 1<<20)
	for range size / int64(len(block)) {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = w.Close(), z.Close()
	comment, _ := applied(t, "t.tar.gz", b.Bytes(), "")
	if !strings.Contains(comment, "unpacks to more than") {
		t.Errorf("got %q", comment)
	}
}

// TestPlantedLink: a link that stands in the directory is not followed out of it.
func TestPlantedLink(t *testing.T) {
	env, dir := statetest.Minion(t, payload.M("base/t.sls", "x:\n  archive.extracted:\n    - name: ROOT/w/x\n"+
		"    - source: ROOT/t.tar\n    - enforce_toplevel: False\n    - overwrite: True\n"), nil)
	packed := tarOf(t, tar.Header{Name: "d/f", Size: 3, Typeflag: tar.TypeReg})
	if err := os.WriteFile(dir+"/t.tar", packed, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/w/x", "/elsewhere"} {
		if err := os.MkdirAll(dir+path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../../elsewhere", dir+"/w/x/d"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := modtest.Call(t, env, "state.apply", []any{"t"}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir + "/elsewhere/f"); err == nil {
		t.Error("the file was written through the link")
	}
}

// TestWrongHash: an archive of the master with another hash than wanted is not kept.
func TestWrongHash(t *testing.T) {
	env, dir := statetest.Minion(t, payload.M("base/t.tar", "x", "base/t.sls",
		"x:\n  archive.extracted:\n    - name: ROOT/w/x\n"+
			"    - source: salt://t.tar\n    - source_hash: sha256="+strings.Repeat("0", 64)+"\n"), nil)
	if _, _, err := modtest.Call(t, env, "state.apply", []any{"t"}, nil); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/w/x", "/cache/files/base/t.tar"} {
		if _, err := os.Lstat(dir + path); err == nil {
			t.Errorf("%s was left behind", path)
		}
	}
}
