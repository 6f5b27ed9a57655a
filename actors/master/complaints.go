package master

import (
	"log/slog"

	"brine/modules/fleet/door"
)

// complaints are log records about somebody outside, at most one a minute of a cause and an address; the next one tells how
// many were not shown. Any number of goroutines may use them.
type complaints struct {
	lines door.Lines
	log   *slog.Logger
}

// warn writes a record, if it is time for one.
func (c *complaints) warn(cause, from string, attrs ...any) { c.warned(cause, from, attrs...) }

// warned is warn, and tells whether the record was written.
func (c *complaints) warned(cause, from string, attrs ...any) (said bool) {
	more, ok := c.lines.Due(cause, from)
	if !ok {
		return false
	}
	if from != "" {
		attrs = append(attrs, "from", from)
	}
	if more > 0 {
		attrs = append(attrs, "not_shown", more)
	}
	c.log.Warn(cause, attrs...)
	return true
}
