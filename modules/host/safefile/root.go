package safefile

import (
	"os"

	"golang.org/x/sys/unix"
)

// OpenRoot opens a directory for work below it that no link leads out of. Links on the way to it are followed as At
// follows them.
func OpenRoot(path string) (*os.Root, error) {
	p, err := At(path, true)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	fd, err := unix.Openat(p.dir, p.Name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, p.wrong("open", err)
	}
	defer func() { _ = unix.Close(fd) }()
	root, err := os.OpenRoot(procName(fd))
	if err != nil {
		return nil, p.wrong("open", bare(err))
	}
	return root, nil
}
