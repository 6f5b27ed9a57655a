// Package complaints writes log records about somebody outside the master, at most one a minute of a cause and an
// address. A Log owns the count of records that it has left out. It asks modules/fleet/door whether a record is due.
package complaints

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"brine/modules/fleet/door"
)

// Log are log records about somebody outside, at most one a minute of a cause and an address; the next one tells
// how many were not shown. Any number of goroutines may use them.
type Log struct {
	lines door.Lines
	log   *slog.Logger
}

// New writes to a log.
func New(log *slog.Logger) *Log { return &Log{log: log} }

// Warn writes a record, if it is time for one.
func (c *Log) Warn(cause, from string, attrs ...any) { c.write(cause, from, attrs) }

// Warned is warn, and tells whether the record was written.
func (c *Log) Warned(cause, from string, attrs ...any) (said bool) {
	return c.write(cause, from, attrs)
}

// callersAbove are those of runtime.Callers, of write, and of warn or warned.
const callersAbove = 3

func (c *Log) write(cause, from string, attrs []any) bool {
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
	h := c.log.Handler()
	if ctx := context.Background(); h.Enabled(ctx, slog.LevelWarn) {
		var pc [1]uintptr
		runtime.Callers(callersAbove, pc[:]) // who complains: each place has lines of its own (door.Wall)
		r := slog.NewRecord(time.Now(), slog.LevelWarn, cause, pc[0])
		r.Add(attrs...)
		_ = h.Handle(ctx, r) // a log that cannot be written is told by nobody
	}
	return true
}
