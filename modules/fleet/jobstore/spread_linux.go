package jobstore

import (
	"os"

	"golang.org/x/sys/unix"
)

// topDir is the attribute T of chattr(1), FS_TOPDIR_FL.
const topDir = 0x00020000

// spread asks the file system to lay the directories of dir far apart, each with room around it for what will be in it.
// ext4 else puts them all where dir is and looks through the same inodes for each new job; without a journal it also
// walks past all that was removed there in the last minutes. Only the speed depends on it: what cannot be done is left.
func spread(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	fd := int(f.Fd())
	flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
	if err == nil && flags&topDir == 0 {
		_ = unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags|topDir)
	}
}
