package jobstore

import "golang.org/x/sys/unix"

// freeBytes is the room that is left for this process on the file system of a directory, -1 when that is not known.
func freeBytes(dir string) int64 {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize) // an int32 on 32-bit machines
}
