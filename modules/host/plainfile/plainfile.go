// Package plainfile reads plain files for functions and templates: nothing waits for a pipe, a device or a terminal,
// what is read has a bound, and a long sum ends with its context. Errors are those of the system; a caller gives them
// Python's words.
package plainfile

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

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/blake2s"
)

// ErrForm means a hash that is not known.
var ErrForm = errors.New("plainfile: unknown hash")

// Open opens a plain file.
func Open(path string) (*os.File, error) {
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

// Read is the content of a file of at most so many bytes.
func Read(path string, most int64) ([]byte, error) {
	data, err := Begin(path, most+1)
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return data, err
}

// Begin is the beginning of a file.
func Begin(path string, size int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, size))
}

// NewHash makes a hash by its name in Python's hashlib. An error is ErrForm.
func NewHash(form string) (hash.Hash, error) {
	make, ok := map[string]func() hash.Hash{
		"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384,
		"sha512":   sha512.New,
		"sha3_224": func() hash.Hash { return sha3.New224() }, "sha3_256": func() hash.Hash { return sha3.New256() },
		"sha3_384": func() hash.Hash { return sha3.New384() }, "sha3_512": func() hash.Hash { return sha3.New512() },
		"blake2b": blake(blake2b.New512), "blake2s": blake(blake2s.New256),
	}[form]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrForm, form)
	}
	return make(), nil
}

// blake makes a hash that has no key: only a key could be refused.
func blake(with func(key []byte) (hash.Hash, error)) func() hash.Hash {
	return func() hash.Hash {
		h, _ := with(nil)
		return h
	}
}

// Hash is the sum of a file in hexadecimal digits.
func Hash(ctx context.Context, path, form string) (string, error) {
	h, err := NewHash(form)
	if err != nil {
		return "", err
	}
	f, err := Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for {
		if err := context.Cause(ctx); err != nil {
			return "", err
		}
		if _, err := io.CopyN(h, f, 1<<20); err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), nil
		} else if err != nil {
			return "", err
		}
	}
}

// Binary says whether data has a NUL, or more than three bytes in ten that no text has.
func Binary(data []byte) bool {
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
