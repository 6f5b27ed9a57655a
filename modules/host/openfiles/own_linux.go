package openfiles

import (
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Keep keeps all open files of this process but the standard ones out of the programs that it starts from now on: those
// that somebody has left open for it, and those that C libraries open. What a program is meant to get is given to it
// by os/exec all the same.
func Keep() {
	const first = 3
	if unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	names, err := os.ReadDir(list) // Linux before 5.11
	if err != nil {
		return
	}
	for _, n := range names {
		if fd, err := strconv.Atoi(n.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
}
