package fileclient

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// modeOf tells whether a file is in the mode of direct writes.
func modeOf(t *testing.T, f *os.File) bool {
	t.Helper()
	raw, err := f.SyscallConn()
	flags := 0
	if err == nil {
		err = raw.Control(func(fd uintptr) { flags, _ = unix.FcntlInt(fd, unix.F_GETFL, 0) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return flags&unix.O_DIRECT != 0
}

// TestBulk: whatever the pieces are, wherever they lie and wherever direct writes begin, the file is what was written.
func TestBulk(t *testing.T) {
	text := alignedRoom(5*directStep + 3*directAlign + 17)
	random := rand.NewChaCha8([32]byte{1})
	if _, err := random.Read(text); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		after       int64
		skew, piece int  // how the text lies, and how long the pieces are
		direct      bool // at the end but for the last piece, where the file system lets it
	}{
		"pages":           {0, 0, 4 * directAlign, true},
		"whole":           {0, 0, len(text), true},
		"skew":            {0, 67, 4 * directAlign, true},
		"skew, large":     {0, 67, len(text), true},
		"later":           {3 * directStep, 0, directStep, true},
		"later, odd":      {directStep + 1, 3, 2 * directStep, true},
		"odd pieces":      {0, 0, 3*directAlign + 1, false},
		"small":           {0, 0, 1000, false},
		"never so late":   {1 << 40, 0, directStep, false},
		"between a piece": {directAlign, 0, 3 * directAlign, true},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := os.Create(filepath.Join(t.TempDir(), "f"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			b, direct := newBulk(f), false
			b.after = c.after
			for rest := text[c.skew:]; len(rest) > 0; {
				n := min(c.piece, len(rest))
				if got, err := b.Write(rest[:n]); err != nil || got != n {
					t.Fatalf("wrote %d of %d: %v", got, n, err)
				}
				direct = direct || b.at%directAlign == 0 && modeOf(t, f)
				rest = rest[n:]
			}
			if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, text[c.skew:]) {
				t.Errorf("%d bytes of %d, %v", len(got), len(text)-c.skew, err)
			}
			if modeOf(t, f) {
				t.Error("the end was written directly, though it is no page")
			}
			if _, ok := diskTakes(t); ok && c.piece < len(text) && direct != c.direct {
				t.Errorf("direct writes: %v", direct)
			}
		})
	}
}

// diskTakes tells whether the disk of the test's folder takes direct writes.
func diskTakes(t *testing.T) (error, bool) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "direct"), os.O_CREATE|os.O_WRONLY|syscall.O_DIRECT, 0o600)
	if err != nil {
		return err, false
	}
	defer f.Close()
	_, err = f.Write(alignedRoom(directAlign))
	return err, err == nil
}

// TestBulkRefused: where the file system takes no direct write after all, all is written as ever.
func TestBulkRefused(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := newBulk(f)
	b.after = 0
	room := alignedRoom(2 * directAlign)
	if _, err := f.Seek(1, 0); err != nil { // a place that no direct write may have
		t.Fatal(err)
	}
	if n, err := b.Write(room); err != nil || n != len(room) {
		t.Fatalf("wrote %d, %v", n, err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != int64(1+len(room)) || modeOf(t, f) {
		t.Errorf("%v, %v, direct %v", info.Size(), err, modeOf(t, f))
	}
}

// TestBulkPipe: what is no file of a disk is left in its mode, which would mean something else there.
func TestBulkPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	b := newBulk(w)
	b.after = 0
	if _, err := b.Write(alignedRoom(directAlign)); err != nil || modeOf(t, w) {
		t.Errorf("%v, direct %v", err, modeOf(t, w))
	}
}
