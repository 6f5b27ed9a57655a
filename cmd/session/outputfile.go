package session

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"brine/wire/python"
)

// emptyOutputFile cuts an existing --out-file to nothing, so that its mode and owner stay.
func (s *Session) emptyOutputFile() error {
	path := s.Opt.Str("output_file")
	if path == "" || s.Opt.Bool("output_file_append") || !IsFile(path) {
		return nil
	}
	if err := os.Truncate(path, 0); err != nil {
		return s.Parser.Errorf("%s: Access denied: %s", path, pythonOSError(err, path))
	}
	return nil
}

// pythonOSError is an error of the system in Python's words: [Errno 13] Permission denied: 'path'.
func pythonOSError(err error, path string) string {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return err.Error()
	}
	text := no.Error()
	if text != "" && text[0] >= 'a' && text[0] <= 'z' {
		text = string(text[0]-'a'+'A') + text[1:]
	}
	return fmt.Sprintf("[Errno %d] %s: %s", int(no), text, python.Repr(path))
}
