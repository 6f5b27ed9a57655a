// Package terminal distinguishes terminals from other outputs, and keeps control characters in data away from
// them. It does not draw: see cmd/top.
package terminal

import (
	"io"
	"os"

	"brine/modules/text/printable"

	"golang.org/x/term"
)

// screen is a terminal at stdout or stderr. The output of a tool may contain texts of minions, so only
// printable text, line ends and tabs pass. Code that needs control sequences writes them to Beneath, and must
// clean the other text itself.
//
// Unlike Salt: its tools print control characters of minions unchanged. In pipes and files brine leaves them
// unchanged, too.
type screen struct{ f *os.File }

// OnScreen returns f, wrapped as a screen if it is a terminal.
func OnScreen(f *os.File) io.Writer {
	if IsTerminal(f) {
		return &screen{f}
	}
	return f
}

// Write writes p without control characters. p must consist of whole characters.
func (s *screen) Write(p []byte) (int, error) {
	if _, err := io.WriteString(s.f, printable.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Beneath returns the output that lets control sequences pass.
func Beneath(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.f
	}
	return w
}

// IsTerminal tells whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := Beneath(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
