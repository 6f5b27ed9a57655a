package machine

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"syscall"
	"unicode/utf8"

	"brine/modules/renderers/jinja/py"
)

// open opens a plain file; nothing else is waited for.
func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &os.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no plain file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// python is an error of the system in Python's words.
func python(path string, err error) error {
	words := map[syscall.Errno]string{
		syscall.ENOENT: "No such file or directory", syscall.EACCES: "Permission denied", syscall.EISDIR: "Is a directory",
		syscall.ENOTDIR: "Not a directory", syscall.ELOOP: "Too many levels of symbolic links", syscall.ENAMETOOLONG: "File name too long",
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

// block is the beginning of a file; not found means that it cannot be read.
func block(path string, size int64) (data []byte, found bool) {
	f, err := open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if size < 0 || size > maxBlock {
		size = maxBlock
	}
	data, err = io.ReadAll(io.LimitReader(f, size))
	return data, err == nil
}

func isText(path string, size any) (any, error) {
	n, err := py.Whole(size)
	if err != nil {
		return nil, err
	}
	data, found := block(path, n)
	return found && !binary(data), nil
}

func isBinaryFile(path string) (any, error) {
	data, found := block(path, 2048)
	return found && binary(data), nil
}

// binary says whether data has a NUL, or more than three bytes in ten that no text has.
func binary(data []byte) bool {
	if len(data) == 0 {
		return false
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return true
	}
	rest := data
	for len(rest) > 0 {
		c, n := utf8.DecodeRune(rest)
		if c == utf8.RuneError && n == 1 {
			break
		}
		rest = rest[n:]
	}
	wide := !utf8.FullRune(rest) // all of it is UTF-8, but for a last character that is cut off
	odd := 0
	for _, c := range data {
		switch {
		case c >= 32 && c < 127, c == '\n', c == '\r', c == '\t', c == '\f', c == '\b', wide && c >= 128 && c < 255:
		default:
			odd++
		}
	}
	return float64(odd)/float64(len(data)) > 0.30
}

// hashOf is the hash sum of a file in hexadecimal digits.
func hashOf(ctx context.Context, path string, form any) (any, error) {
	name, ok := py.Text(form)
	if !ok {
		return nil, py.Errorf("TypeError", "attribute name must be string, not '%s'", py.TypeName(form))
	}
	var h hash.Hash
	switch name {
	case "md5":
		h = md5.New()
	case "sha1":
		h = sha1.New()
	case "sha224":
		h = sha256.New224()
	case "sha256":
		h = sha256.New()
	case "sha384":
		h = sha512.New384()
	case "sha512":
		h = sha512.New()
	case "sha3_224":
		h = sha3.New224()
	case "sha3_256":
		h = sha3.New256()
	case "sha3_384":
		h = sha3.New384()
	case "sha3_512":
		h = sha3.New512()
	default:
		return nil, py.Errorf("ValueError", "Invalid hash type: %s", name)
	}
	f, err := open(path)
	if err != nil {
		return nil, python(path, err)
	}
	defer f.Close()
	for {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if _, err := io.CopyN(h, f, 1<<20); err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), nil
		} else if err != nil {
			return nil, python(path, err)
		}
	}
}
