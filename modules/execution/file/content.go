package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/text/codecs"
	"brine/wire/python"
)

// Content is what a file should hold: data, or a file of this minion, which may have to be fetched first.
type Content struct {
	Sum   Sum // of a file; Value is "" where it is not known before the file is read
	data  []byte
	file  string
	fetch func() (string, error) // nil: data counts, or file is there
}

// Data is a content that is known.
func Data(data []byte) *Content { return &Content{data: data} }

// inFile tells whether the content is that of a file.
func (x *Content) inFile() bool { return x.fetch != nil || x.file != "" }

// File is the path of the file that has the content, which is fetched if need be.
func (x *Content) File() (string, error) {
	if x.file == "" && x.fetch != nil {
		at, err := x.fetch()
		if err != nil {
			return "", err
		}
		x.file = at
	}
	return x.file, nil
}

// Bytes is the whole content.
func (x *Content) Bytes() ([]byte, error) {
	if !x.inFile() {
		return x.data, nil
	}
	name, err := x.File()
	if err != nil {
		return nil, err
	}
	return plainfile.Read(name, program.MaxOutput())
}

// open reads the content from its beginning.
func (x *Content) open() (io.ReadCloser, error) {
	if !x.inFile() {
		return io.NopCloser(bytes.NewReader(x.data)), nil
	}
	name, err := x.File()
	if err != nil {
		return nil, err
	}
	return plainfile.Open(name)
}

// heldBy tells whether a file has the content. What is not plain has not.
func (x *Content) heldBy(ctx context.Context, name string) (bool, error) {
	if x.Sum.Value != "" {
		sum, err := plainfile.Hash(ctx, name, x.Sum.Form)
		if errors.Is(err, plainfile.ErrForm) {
			err = loader.Raise("ValueError", "Invalid hash type: %s", x.Sum.Form)
		}
		return err == nil && sum == x.Sum.Value, err
	}
	f, err := plainfile.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	own, err := x.open()
	if err != nil {
		return false, err
	}
	defer own.Close()
	return sameSize(f, own) && sameBytes(f, own), nil
}

// sameSize is false only where sizes are known and differ.
func sameSize(f *os.File, other io.Reader) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	if o, ok := other.(*os.File); ok {
		its, err := o.Stat()
		return err == nil && its.Size() == info.Size()
	}
	return true
}

// sameBytes compares two files piece by piece.
func sameBytes(a, b io.Reader) bool {
	const piece = 64 << 10
	one, two := make([]byte, piece), make([]byte, piece)
	for {
		n, err1 := io.ReadFull(a, one)
		m, err2 := io.ReadFull(b, two)
		if n != m || !bytes.Equal(one[:n], two[:m]) {
			return false
		}
		if err1 != nil || err2 != nil {
			return isEnd(err1) && isEnd(err2)
		}
	}
}

func isEnd(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

// Encode writes a text in an encoding of Python; nil and "" are UTF-8. What is no text stays as it is.
func Encode(contents, encoding, handler any) (any, error) {
	text, ok := contents.(string)
	if !ok || !python.Truth(encoding) {
		return contents, nil
	}
	out, err := codecs.Encode(text, python.Str(encoding), python.Str(handler))
	var wrong *codecs.Error
	if errors.As(err, &wrong) {
		return nil, loader.Raise(wrong.Class, "%s", wrong.Text)
	}
	return []byte(out), err
}
