package machine

import (
	"context"
	"errors"
	"syscall"

	"brine/modules/host/plainfile"
	"brine/modules/renderers/jinja/py"
)

// python is an error of the system in Python's words.
func python(path string, err error) error {
	words := map[syscall.Errno]string{
		syscall.ENOENT: "No such file or directory", syscall.EACCES: "Permission denied",
		syscall.EISDIR: "Is a directory", syscall.ENOTDIR: "Not a directory",
		syscall.ELOOP: "Too many levels of symbolic links", syscall.ENAMETOOLONG: "File name too long",
	}
	var no syscall.Errno
	if errors.As(err, &no) && words[no] != "" {
		shown, err := py.Repr(py.Free(), path)
		if err != nil {
			return err
		}
		return py.Errorf("OSError", "[Errno %d] %s: %s", int(no), words[no], shown)
	}
	return err
}

// maxBlock is the most that is read to tell text from what is none, in bytes.
const maxBlock = 1 << 20

func isText(path string, size any) (any, error) {
	n, err := py.Whole(size)
	if err != nil {
		return nil, err
	}
	if n < 0 || n > maxBlock {
		n = maxBlock
	}
	data, err := plainfile.Begin(path, n)
	return err == nil && !plainfile.Binary(data), nil
}

func isBinaryFile(path string) (any, error) {
	data, err := plainfile.Begin(path, 2048)
	return err == nil && plainfile.Binary(data), nil
}

// hashOf is the hash sum of a file in hexadecimal digits.
func hashOf(ctx context.Context, path string, form any) (any, error) {
	name, ok := py.Text(form)
	if !ok {
		return nil, py.Errorf("TypeError", "attribute name must be string, not '%s'", py.TypeName(form))
	}
	sum, err := plainfile.Hash(ctx, path, name)
	switch {
	case errors.Is(err, plainfile.ErrForm):
		return nil, py.Errorf("ValueError", "Invalid hash type: %s", name)
	case err != nil && ctx.Err() == nil:
		return nil, python(path, err)
	}
	return sum, err
}
