package master

// warn writes a log record about somebody outside, at most one a minute of a cause and an address; the next one tells how
// many were not shown.
func (c *core) warn(cause, from string, attrs ...any) { c.warned(cause, from, attrs...) }

// warned is warn, and tells whether the record was written.
func (c *core) warned(cause, from string, attrs ...any) (said bool) {
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
