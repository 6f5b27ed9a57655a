// Package conffile reads and rewrites files that configure the host: a table below /etc, or a file of a program that
// may lie below a folder of any user. A file is replaced whole and keeps its mode, its owner and its labels; whoever
// looks finds the old text or the new one. It knows nothing of what stands in the files.
//
// A symbolic link is followed, as programs of the host do, but with care where the minion has more rights than who made
// the link: a link of root, or of the minion's own user, leads anywhere, one of another user only to a file of that
// user. The folders on the way are held open, so that nobody can exchange one in the meantime.
package conffile

import (
	"bytes"
	"errors"
	"io/fs"
)

// ErrForeignLink means that a link on the way belongs to a user who does not own what it leads to.
var ErrForeignLink = errors.New("a link of another user leads there: it is not followed")

// ErrNotPlain means that there is something else than a file in the place.
var ErrNotPlain = errors.New("it is no plain file")

// newMode is the mode of a file that is made.
const newMode = 0o644

// Read is what stands in a file. One that is not there is fs.ErrNotExist.
func Read(path string) ([]byte, error) { return read(path) }

// Write puts a text into a file, whole. The folder must be there.
func Write(path string, text []byte) error { return write(path, text) }

// Text is what stands in a file, "" where there is none.
func Text(path string) (string, error) {
	b, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(b), err
}

// Edit writes what change makes of the text of a file, unless it makes no change. It tells whether it wrote. There
// must be such a file.
func Edit(path string, change func(text string) string) (bool, error) {
	old, err := read(path)
	if err != nil {
		return false, err
	}
	text := []byte(change(string(old)))
	if bytes.Equal(old, text) {
		return false, nil
	}
	return true, write(path, text)
}
