package door

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"brine/config"
)

// Bounds of what a daemon's log is told in a minute.
const (
	wallBytes  = 256 << 10 // by one place in the code
	wallLines  = 20        // by it about one minion, user or address
	wallTalks  = 16        // times as much of both below info, which an operator has asked for
	wallLeast  = 256       // bytes that a record counts for at least
	maxMessage = 4 << 10   // bytes of a message,
	maxAttr    = 2 << 10   // and of what stands behind a name
	maxDump    = 256 << 10 // of a stack
	maxAttrs   = 32        // of a record
	notShown   = "not_shown"
)

// Wall is the handler through which all that a daemon logs has to go: passwords in it are masked, each record has a
// bounded length, and each place in the code a bounded number of bytes in a minute, so that no stranger fills the disk,
// whatever he makes it say. Of one minion, user or address a place tells twenty times a minute. How many records were
// left out is in the next one of the same place. The first record of a place is always written.
func Wall(h slog.Handler) slog.Handler { return &wall{next: h, sites: &sites{}} }

// Known is a logger whose records are bounded in length alone. It is for lines that nobody can cause but those whom the
// daemon knows, and of which there are many on a good day. TestWalls of cmd/session lists who uses it.
func Known(l *slog.Logger) *slog.Logger {
	w, is := l.Handler().(*wall)
	if !is {
		return l
	}
	open := *w
	open.known = true
	return slog.New(&open)
}

type wall struct {
	next  slog.Handler
	sites *sites
	who   string // of With
	known bool
}

func (w *wall) Enabled(ctx context.Context, level slog.Level) bool { return w.next.Enabled(ctx, level) }

func (w *wall) WithAttrs(attrs []slog.Attr) slog.Handler {
	c, short := *w, make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		c.who, short[i] = cmp.Or(c.who, whoOf(a)), shortened(a, 0)
	}
	c.next = w.next.WithAttrs(short)
	return &c
}

func (w *wall) WithGroup(name string) slog.Handler {
	c := *w
	c.next = w.next.WithGroup(name)
	return &c
}

// Handle writes a record, if there is room for it.
func (w *wall) Handle(ctx context.Context, r slog.Record) error {
	short := slog.NewRecord(r.Time, r.Level, config.MaskText(cut(r.Message, maxMessage)), r.PC)
	who, bytes, n := w.who, len(short.Message), 0
	r.Attrs(func(a slog.Attr) bool {
		who = cmp.Or(who, whoOf(a))
		a = shortened(a, 0)
		bytes += size(a)
		short.AddAttrs(a)
		n++
		return n < maxAttrs
	})
	if w.known {
		return w.next.Handle(ctx, short)
	}
	more, due := w.sites.of(site{r.PC, r.Level < slog.LevelInfo}).Spend(who, max(bytes, wallLeast))
	if !due {
		return nil
	}
	if more > 0 {
		short.AddAttrs(slog.Int(notShown, more))
	}
	return w.next.Handle(ctx, short)
}

// whoOf is the one of whom an attribute tells; "" when it is about something else.
func whoOf(a slog.Attr) string {
	switch a.Key {
	case "from", "peer", "minion", "user", "uid":
	default:
		return ""
	}
	text := cut(a.Value.String(), maxAttr)
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	return a.Key + " " + Network(text)
}

// site is a place in the code that logs, by its program counter.
type site struct {
	pc    uintptr
	talks bool // below info
}

// sites are the budgets of all places.
type sites struct {
	mu   sync.Mutex
	byPC map[site]*Budget
	now  func() time.Time // nil: the clock
}

func (s *sites) of(at site) *Budget {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.byPC[at]
	if b == nil {
		if s.byPC == nil {
			s.byPC = map[site]*Budget{}
		}
		b = &Budget{Bytes: wallBytes, Lines: wallLines, now: s.now}
		if at.talks {
			b.Bytes, b.Lines = wallBytes*wallTalks, wallLines*wallTalks
		}
		s.byPC[at] = b
	}
	return b
}
