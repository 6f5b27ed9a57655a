// Package openfiles counts the open files of this process, and keeps them to itself. What the system allows is the
// business of who asks. Answers to the num_fds of psutil, which Salt uses.
package openfiles

import "os"

// list is where Linux shows the open files of this process. Since 6.2 its size is their number; to read the names of a
// thousand takes a millisecond.
const list = "/proc/self/fd"

// Count is the number of open files, 0 where the system does not tell. It may be one more than there are: the one
// with which they were counted.
func Count() int {
	if info, err := os.Stat(list); err == nil && info.Size() > 0 {
		return int(info.Size())
	}
	return countNames()
}

// countNames counts in the way of older kernels.
func countNames() int {
	dir, err := os.Open(list)
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0
	}
	return len(names)
}
