package loader

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"brine/wire/python"
)

// OSErrorClass is the class Python raises for an error number of Linux.
func OSErrorClass(number syscall.Errno) string {
	switch number {
	case syscall.EPERM, syscall.EACCES:
		return "PermissionError"
	case syscall.ENOENT:
		return "FileNotFoundError"
	case syscall.ESRCH:
		return "ProcessLookupError"
	case syscall.EINTR:
		return "InterruptedError"
	case syscall.ECHILD:
		return "ChildProcessError"
	case syscall.EAGAIN, syscall.EALREADY, syscall.EINPROGRESS:
		return "BlockingIOError"
	case syscall.EEXIST:
		return "FileExistsError"
	case syscall.ENOTDIR:
		return "NotADirectoryError"
	case syscall.EISDIR:
		return "IsADirectoryError"
	case syscall.EPIPE, syscall.ESHUTDOWN:
		return "BrokenPipeError"
	case syscall.ECONNABORTED:
		return "ConnectionAbortedError"
	case syscall.ECONNRESET:
		return "ConnectionResetError"
	case syscall.ETIMEDOUT:
		return "TimeoutError"
	case syscall.ECONNREFUSED:
		return "ConnectionRefusedError"
	}
	return "OSError"
}

// OSErrorText is str() of Python's OSError: "[Errno 2] No such file or directory: 'x'".
func OSErrorText(number syscall.Errno, path string) string {
	text := fmt.Sprintf("[Errno %d] %s", int(number), Strerror(number))
	if path != "" {
		text += ": " + python.Repr(path)
	}
	return text
}

// Strerror is the C library's text for an error number, which begins with a capital where Go's does not.
func Strerror(number syscall.Errno) string {
	text := number.Error()
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// asOSError finds the error number and the path in an error of the operating system.
func asOSError(err error) (number syscall.Errno, path string, ok bool) {
	if !errors.As(err, &number) {
		return 0, "", false
	}
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		path = p.Path
	case errors.As(err, &l):
		path = l.Old
	}
	return number, path, true
}
