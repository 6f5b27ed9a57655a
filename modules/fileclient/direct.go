package fileclient

import (
	"errors"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// directFrom is how much of a file is written as all files are, in bytes. What comes behind it goes past the page
	// cache: it would push out what others need, and costs a machine that gives its memory page by page more than all
	// the rest of the way.
	directFrom = 32 << 20
	// directStep is the room for what does not lie as direct writes want it, in bytes.
	directStep = 256 << 10
	// directAlign is what place, length and memory of a direct write are multiples of: the page, which no disk asks
	// more than.
	directAlign = 4096
)

// bulk writes one file from its beginning to its end.
type bulk struct {
	f      *os.File
	after  int64 // where direct writes begin
	at     int64 // what is written
	direct bool  // the file is in the mode of direct writes
	never  bool  // its file system has none, or it has come to its end
	room   []byte
}

// newBulk writes what is no regular file as it is.
func newBulk(f *os.File) *bulk {
	info, err := f.Stat()
	return &bulk{f: f, after: directFrom, never: err != nil || !info.Mode().IsRegular()}
}

// Write writes all of p, or tells why not.
func (b *bulk) Write(p []byte) (n int, err error) {
	if whole := len(p) &^ (directAlign - 1); whole > 0 && b.goes() {
		n, err = b.past(p[:whole])
		if errors.Is(err, syscall.EINVAL) { // this file system writes so only to other places or not at all
			b.never, err = true, nil
		}
		if err != nil {
			return n, err
		}
	}
	if n < len(p) {
		var m int
		m, err = b.through(p[n:])
		n += m
	}
	return n, err
}

// goes tells whether a direct write may come now.
func (b *bulk) goes() bool {
	if b.never || b.at < b.after || b.at%directAlign != 0 {
		return false
	}
	if !b.direct {
		b.never = b.mode(true) != nil
	}
	return !b.never
}

// past writes whole pages past the page cache.
func (b *bulk) past(p []byte) (n int, err error) {
	if beforePage(p) == 0 {
		return b.add(p)
	}
	if b.room == nil {
		b.room = alignedRoom(directStep)
	}
	for n < len(p) && err == nil {
		var m int
		m, err = b.add(b.room[:copy(b.room, p[n:])])
		n += m
	}
	return n, err
}

// through writes by the page cache.
func (b *bulk) through(p []byte) (int, error) {
	if b.direct {
		if err := b.mode(false); err != nil {
			return 0, err
		}
	}
	return b.add(p)
}

func (b *bulk) add(p []byte) (int, error) {
	n, err := b.f.Write(p)
	b.at += int64(n)
	return n, err
}

// mode turns direct writes on or off.
func (b *bulk) mode(direct bool) error {
	raw, err := b.f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) {
		var flags int
		if flags, inner = unix.FcntlInt(fd, unix.F_GETFL, 0); inner != nil {
			return
		}
		flags &^= unix.O_DIRECT
		if direct {
			flags |= unix.O_DIRECT
		}
		_, inner = unix.FcntlInt(fd, unix.F_SETFL, flags)
	})
	if err = errors.Join(err, inner); err == nil {
		b.direct = direct
	}
	return err
}

// beforePage is how far behind the beginning of p the next page begins; p is not empty.
func beforePage(p []byte) int { return -int(uintptr(unsafe.Pointer(&p[0]))) & (directAlign - 1) }

// alignedRoom is room for n bytes that begins with a page.
func alignedRoom(n int) []byte {
	b := make([]byte, n+directAlign)
	skip := beforePage(b)
	return b[skip : skip+n : skip+n]
}
