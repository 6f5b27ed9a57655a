// Package saltlog writes log records as Salt's tools and daemons do: levels with Salt's names, the formats of
// log_fmt_console and log_fmt_logfile, a log file that follows logrotate. cmd/session chooses the file and the
// level. Answers to salt/_logging/impl.py.
package saltlog

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/modules/text/printable"
)

// slog has no names for these levels.
const (
	LevelAll      = slog.Level(-100)
	LevelGarbage  = slog.Level(-12)
	LevelTrace    = slog.Level(-8)
	LevelProfile  = slog.Level(-2)
	LevelCritical = slog.Level(12)
	LevelQuiet    = slog.Level(100)
)

// These are Salt's default formats (DFLT_LOG_FMT_CONSOLE, DFLT_LOG_FMT_LOGFILE and the date formats).
const (
	ConsoleFormat = "[%(levelname)-8s] %(message)s"
	FileFormat    = "%(asctime)s,%(msecs)03d [%(name)-17s:%(lineno)-4d][%(levelname)-8s][%(process)d] %(message)s"
	ConsoleDate   = "%H:%M:%S"
	FileDate      = "%Y-%m-%d %H:%M:%S"
)

// levels holds Salt's names in the order Salt lists them as choices of -l.
var levels = []struct {
	name  string
	level slog.Level
}{
	{"all", LevelAll}, {"debug", slog.LevelDebug}, {"error", slog.LevelError}, {"critical", LevelCritical},
	{"garbage", LevelGarbage}, {"info", slog.LevelInfo}, {"profile", LevelProfile}, {"quiet", LevelQuiet},
	{"trace", LevelTrace}, {"warning", slog.LevelWarn},
}

// Names lists the level names in the order of Salt's choices for -l.
func Names() []string {
	names := make([]string, len(levels))
	for i, l := range levels {
		names[i] = l.name
	}
	return names
}

// SortedNames lists the level names from the most to the least verbose, the choices of --log-file-level.
func SortedNames() []string {
	sorted := slices.Clone(levels)
	slices.SortStableFunc(sorted, func(a, b struct {
		name  string
		level slog.Level
	}) int {
		return cmp.Compare(a.level, b.level)
	})
	names := make([]string, len(sorted))
	for i, l := range sorted {
		names[i] = l.name
	}
	return names
}

// Level finds a level by Salt's name, in upper or lower case.
func Level(name string) (slog.Level, bool) {
	for _, l := range levels {
		if l.name == strings.ToLower(name) {
			return l.level, true
		}
	}
	return 0, false
}

// levelName is the name of a level in a log line. It is the name of the nearest named level below or at it.
func levelName(l slog.Level) string {
	switch {
	case l >= LevelCritical:
		return "CRITICAL"
	case l >= slog.LevelError:
		return "ERROR"
	case l >= slog.LevelWarn:
		return "WARNING"
	case l >= slog.LevelInfo:
		return "INFO"
	case l >= LevelProfile:
		return "PROFILE"
	case l >= slog.LevelDebug:
		return "DEBUG"
	case l >= LevelTrace:
		return "TRACE"
	}
	return "GARBAGE"
}

// Options of a Handler.
type Options struct {
	Level  slog.Leveler // it may change at any time; nil: info
	Format string       // "" is ConsoleFormat
	Date   string       // strftime text for %(asctime)s, "" is ConsoleDate
	Name   string       // %(name)s of records without the attribute actor
}

// Handler is a slog.Handler that writes each record with one Write. Attributes follow the message as key=value.
// The attribute actor is not among them: it becomes the record's %(name)s.
type Handler struct {
	opt    Options
	format []piece
	attrs  string // attributes of With, as text
	group  string // prefix of further attribute keys
	out    *output
}

// output is shared by a handler and all handlers derived from it.
type output struct {
	mu sync.Mutex
	w  io.Writer
}

// New makes a handler that writes to w.
func New(w io.Writer, opt Options) *Handler {
	if opt.Level == nil {
		opt.Level = slog.LevelInfo
	}
	opt.Format = cmp.Or(opt.Format, ConsoleFormat)
	opt.Date = cmp.Or(opt.Date, ConsoleDate)
	return &Handler{opt: opt, format: compile(opt.Format), out: &output{w: w}}
}

// Enabled reports whether a record of this level is written.
func (h *Handler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.opt.Level.Level() }

// Handle writes a record as one line, whatever it contains.
func (h *Handler) Handle(_ context.Context, r slog.Record) error {
	line := record{time: r.Time, level: levelName(r.Level), name: h.opt.Name}
	if line.time.IsZero() {
		line.time = time.Now()
	}
	var attrs strings.Builder
	attrs.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "actor" && h.group == "" {
			line.name = a.Value.String()
		} else {
			appendAttr(&attrs, h.group, a)
		}
		return true
	})
	line.message, line.name = printable.Line(r.Message+attrs.String()), printable.Line(line.name)
	line.pc = r.PC
	text := append(render(h.format, &line, h.opt.Date), '\n')
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	_, err := h.out.w.Write(text)
	return err
}

// WithAttrs returns a handler whose records carry these attributes too.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	var b strings.Builder
	b.WriteString(h.attrs)
	for _, a := range attrs {
		if a.Key == "actor" && h.group == "" {
			c.opt.Name = a.Value.String()
			continue
		}
		appendAttr(&b, h.group, a)
	}
	c.attrs = b.String()
	return &c
}

// WithGroup returns a handler that prefixes the keys of further attributes with name and a dot.
func (h *Handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	c := *h
	c.group += name + "."
	return &c
}

func appendAttr(b *strings.Builder, prefix string, a slog.Attr) {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, sub := range v.Group() {
			appendAttr(b, prefix, sub)
		}
		return
	}
	if a.Key == "" {
		return
	}
	text := v.String()
	if text == "" || strings.ContainsAny(text, " \t\"=") || printable.Line(text) != text {
		text = strconv.Quote(text)
	}
	b.WriteString(" " + prefix + a.Key + "=" + text)
}

// Join returns a handler that passes each record to all given handlers.
func Join(handlers ...slog.Handler) slog.Handler { return slog.NewMultiHandler(handlers...) }

// pid is %(process)d.
func pid() int { return os.Getpid() }
