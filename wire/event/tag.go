package event

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"brine/wire/payload"
)

// CheckTag is the rule of tags at every door of a bus: Pack asks it, and who takes bodies that others have packed. The
// error is ErrBadTag, and says why.
//
// Unlike Salt: a tag has no control characters and no ends of lines, is UTF-8, and not longer than payload.MaxTag. A
// newline could begin the data, or a line of a log or a stream; an escape sequence could speak to a terminal.
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

// breaks tells whether a character means something to a terminal or to who reads lines.
func breaks(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// CheckGuestTag is the rule for those who may not say everything: a tag is also none that is taken for a job's by who
// searches tags for one. The error is ErrBadTag, and says why.
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
