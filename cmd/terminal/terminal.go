// Package terminal tells terminals from other outputs and keeps control characters of data away from them. It does not
// draw: see cmd/top.
package terminal

import (
	"io"
	"os"

	"brine/modules/text/printable"

	"golang.org/x/term"
)

// screen is a terminal at stdout or stderr. What a tool writes to it may hold what minions say, so only printable text,
// line ends and tabs pass; who has control sequences of its own writes them beneath, and sees to the rest itself.
//
// Unlike Salt: its tools print control characters of minions as they come. What is piped or redirected stays so here
// too.
type screen struct{ f *os.File }

// OnScreen is f, as a screen where it is a terminal.
func OnScreen(f *os.File) io.Writer {
	if IsTerminal(f) {
		return &screen{f}
	}
	return f
}

// Write writes p without what controls terminals. A write holds whole characters.
func (s *screen) Write(p []byte) (int, error) {
	if _, err := io.WriteString(s.f, printable.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Beneath is where control sequences pass.
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
