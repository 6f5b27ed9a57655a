package cmdmod

import (
	"strings"
	"syscall"
)

// strerror is the C library's text for an error number, which begins with a capital where Go's does not.
func strerror(n syscall.Errno) string {
	text := n.Error()
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
