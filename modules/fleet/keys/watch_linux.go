package keys

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

const (
	// inFolder are the changes that count of what lies in a watched folder,
	inFolder = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_MODIFY | unix.IN_ATTRIB
	// aboveFolder those of the folder itself, seen from the one that holds it.
	aboveFolder = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_ATTRIB
	// goneSelf is the end of a watched folder, wherever it stood.
	goneSelf = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_UNMOUNT | unix.IN_IGNORED
)

// ownFileSystems are those that only this kernel writes, by the magic numbers of statfs(2).
var ownFileSystems = []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC,
	unix.RAMFS_MAGIC, unix.F2FS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, 0x2fc12fc1 /* ZFS */}

var errForeign = errors.New("others may write this file system")

// inotify is a watch by inotify(7).
type inotify struct {
	fd      int
	folders map[int32]bool     // by watch descriptor
	above   map[int32][]string // the folders' names in those that hold them
	buf     []byte
}

// newWatch watches folders and the folders that hold them: one that is not there yet, or is replaced, is told of by
// the one above it.
func newWatch(folders []string) (watch, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("watch folders: %w", err)
	}
	w := &inotify{fd: fd, folders: map[int32]bool{}, above: map[int32][]string{}, buf: make([]byte, 4096)}
	if err := w.add(folders); err != nil {
		w.close()
		return nil, fmt.Errorf("watch folders: %w", err)
	}
	return w, nil
}

func (w *inotify) add(folders []string) error {
	for dir, names := range above(folders) { // first: what happens in between must not be missed
		if err := isOwn(dir); err != nil {
			return err
		}
		wd, err := unix.InotifyAddWatch(w.fd, dir, aboveFolder|goneSelf|unix.IN_ONLYDIR|unix.IN_MASK_ADD)
		if err != nil {
			return err
		}
		w.above[int32(wd)] = append(w.above[int32(wd)], names...)
	}
	for _, dir := range folders {
		wd, err := unix.InotifyAddWatch(w.fd, dir, inFolder|goneSelf|unix.IN_ONLYDIR|unix.IN_MASK_ADD)
		if absent(err) {
			continue
		}
		if err == nil {
			err = isOwn(dir)
		}
		if err != nil {
			return err
		}
		w.folders[int32(wd)] = true
	}
	return nil
}

func isOwn(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return err
	}
	if !slices.Contains(ownFileSystems, int64(st.Type)) {
		return fmt.Errorf("%s: %w", filepath.Base(dir), errForeign)
	}
	return nil
}

func (w *inotify) close() { _ = unix.Close(w.fd) }

func (w *inotify) changes(each func(name string)) error {
	for {
		n, err := unix.Read(w.fd, w.buf)
		switch {
		case err == unix.EAGAIN:
			return nil
		case err == unix.EINTR:
			continue
		case err != nil:
			return fmt.Errorf("watch folders: %w", err)
		}
		for rest := w.buf[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(rest[12:]))
			if size > len(rest) {
				break
			}
			w.tell(rest[:size], each)
			rest = rest[size:]
		}
	}
}

// tell reads one event: wd, mask, cookie and length of the name (4 bytes each), then the name, filled up with NUL.
func (w *inotify) tell(ev []byte, each func(name string)) {
	wd, mask := int32(binary.NativeEndian.Uint32(ev)), binary.NativeEndian.Uint32(ev[4:])
	name := string(bytes.TrimRight(ev[unix.SizeofInotifyEvent:], "\x00"))
	if mask&(goneSelf|unix.IN_Q_OVERFLOW) != 0 || slices.Contains(w.above[wd], name) {
		name = ""
	} else if !w.folders[wd] {
		return
	}
	each(name)
}
