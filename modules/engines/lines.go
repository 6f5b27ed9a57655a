package engines

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest line that a program may write, in bytes. An event has a limit of 1 MiB by itself.
const maxLine = 1 << 20

// errLongLine is of a program that writes without an end of line.
var errLongLine = fmt.Errorf("a line of more than %d bytes", maxLine)

// lines reads the output of a program line by line.
type lines struct{ r *bufio.Reader }

func newLines(r io.Reader) *lines { return &lines{bufio.NewReaderSize(r, 16<<10)} }

// next is the next line without its end; the last one may have none. The error is io.EOF, errLongLine, or that of the
// reader. The line is valid until the next call.
func (l *lines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.long(append([]byte(nil), line...))
	}
	if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
		return nil, err
	}
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	return line, nil
}

func (l *lines) long(line []byte) ([]byte, error) {
	for {
		more, err := l.r.ReadSlice('\n')
		if line = append(line, more...); len(line) > maxLine {
			return nil, errLongLine
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
