package archive

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Bounds of what an archive may hold. Salt has none.
const (
	maxMembers = 1 << 20
	maxName    = 4096 // bytes
	freeSize   = 1 << 30
	maxRatio   = 200 // of what is unpacked to the archive, where more than freeSize is unpacked
)

// ErrHarm means an archive that is not unpacked because it looks like harm.
var ErrHarm = errors.New("the archive is not unpacked")

func harm(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrHarm, fmt.Sprintf(format, a...))
}

// allowed is how many bytes may be unpacked from an archive of a size.
func allowed(size int64) int64 { return max(freeSize, size*maxRatio) }

// bounded reads at most what an archive may unpack to.
type bounded struct {
	from io.Reader
	left int64
	size int64 // of the archive
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, tooLarge(b.size)
	}
	return n, err
}

func tooLarge(size int64) error {
	return harm("it has %d bytes, and unpacks to more than %d", size, allowed(size))
}

// checkName refuses names that lead out of the directory.
func checkName(name string) error {
	switch {
	case len(name) > maxName:
		return harm("it has a name of %d bytes", len(name))
	case strings.HasPrefix(name, "/"):
		return harm("the name %q is absolute", name)
	case strings.ContainsRune(name, 0):
		return harm("the name %q has a NUL", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return harm("the name %q leads out of the directory", name)
		}
	}
	return nil
}

// checkLink refuses links that lead out of the directory. name is that of the link.
func checkLink(name, target string) error {
	if strings.HasPrefix(target, "/") {
		return harm("the link %q leads to the absolute name %q", name, target)
	}
	to := path.Join(path.Dir(path.Clean(name)), target)
	if to == ".." || strings.HasPrefix(to, "../") {
		return harm("the link %q leads out of the directory, to %q", name, target)
	}
	return nil
}
