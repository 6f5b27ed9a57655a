package event

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"brine/wire/payload"
)

// CheckTag is the rule for all tags that enter a bus: Pack calls it, and so does code that accepts packed bodies of
// others. The error wraps ErrBadTag and gives the reason.
//
// Unlike Salt: a tag must be UTF-8, no longer than payload.MaxTag, and without control characters and line ends. A
// newline could begin the data, or a line of a log or a stream; an escape sequence could control a terminal.
func CheckTag(tag string) error {
	switch {
	case tag == "":
		return fmt.Errorf("%w: empty", ErrBadTag)
	case len(tag) > payload.MaxTag:
		return fmt.Errorf("%w: %s is too long", ErrBadTag, payload.Show(tag))
	case !utf8.ValidString(tag), strings.ContainsRune(tag, utf8.RuneError):
		return fmt.Errorf("%w: %s is not UTF-8", ErrBadTag, payload.Show(tag))
	case strings.ContainsFunc(tag, breaks):
		return fmt.Errorf("%w: control characters in %s", ErrBadTag, payload.Show(tag))
	}
	return nil
}

// breaks tells whether a character controls a terminal or ends a line.
func breaks(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// CheckGuestTag is the rule for senders without full rights: it also refuses a tag that tools would take for a job's.
// The error wraps ErrBadTag and gives the reason.
func CheckGuestTag(tag string) error {
	if err := CheckTag(tag); err != nil {
		return err
	}
	if Imitates(tag) {
		return fmt.Errorf("%w: %s looks like that of a job to whoever searches tags for one", ErrBadTag,
			payload.Show(tag))
	}
	return nil
}
