package door

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// walled is a logger behind a wall, what it has written, and its clock.
func walled() (l *slog.Logger, out *bytes.Buffer, clock *time.Time) {
	out, clock = &bytes.Buffer{}, &time.Time{}
	*clock = time.Unix(1e9, 0)
	h := Wall(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug})).(*wall)
	h.sites.now = func() time.Time { return *clock }
	return slog.New(h), out, clock
}

// TestWallLength: no record is long, wherever the text of a stranger stands in it.
func TestWallLength(t *testing.T) {
	evil := strings.Repeat("é", 4<<20)
	type any4 struct{ Text string }
	for name, say := range map[string]func(*slog.Logger){
		"message": func(l *slog.Logger) { l.Error(evil) },
		"value":   func(l *slog.Logger) { l.Error("x", "fun", evil) },
		"name":    func(l *slog.Logger) { l.Error("x", evil, 1) },
		"error":   func(l *slog.Logger) { l.Error("x", "err", errors.New(evil)) },
		"struct":  func(l *slog.Logger) { l.Error("x", "v", any4{evil}) },
		"group":   func(l *slog.Logger) { l.Error("x", slog.Group("g", slog.Group("h", "fun", evil))) },
		"deep": func(l *slog.Logger) {
			l.Error("x", slog.Group("a", slog.Group("b", slog.Group("c", slog.Group("d", slog.Group("e", "f", evil))))))
		},
		"with":  func(l *slog.Logger) { l.With("fun", evil).Error("x") },
		"known": func(l *slog.Logger) { Known(l).Error(evil, "fun", evil) },
		"many": func(l *slog.Logger) {
			var list []any
			for i := range 4000 {
				list = append(list, fmt.Sprint("k", i), evil[:2000])
			}
			l.Error("x", list...)
		},
	} {
		l, out, _ := walled()
		if say(l); out.Len() == 0 || out.Len() > 3*maxAttr*maxAttrs {
			t.Errorf("%s: %d bytes", name, out.Len())
		}
	}
}

// refuse is one place that logs.
//
//go:noinline
func refuse(l *slog.Logger, from string) {
	l.Warn("refused", "from", from, "fun", strings.Repeat("x", 1<<14))
}

// TestWallRate: one who floods gets some lines, all together get no more than a place may write, others still find
// room, and the next minute tells what is missing.
func TestWallRate(t *testing.T) {
	l, out, clock := walled()
	for i := range 5000 {
		refuse(l, fmt.Sprint("192.0.2.1:", i)) // each from another port
	}
	if n := strings.Count(out.String(), "192.0.2.1"); n != wallLines {
		t.Errorf("%d lines of one", n)
	}
	if refuse(l, "192.0.2.2"); !strings.Contains(out.String(), "from=192.0.2.2") {
		t.Error("another is not seen")
	}
	for i := range 5000 {
		refuse(l.With("part", i), fmt.Sprint("198.51.100.", i))
	}
	if out.Len() > 2*wallBytes {
		t.Errorf("%d bytes in a minute", out.Len())
	}
	l.Warn("something else")
	if !strings.Contains(out.String(), "something else") {
		t.Error("another place is shut out")
	}
	*clock = clock.Add(time.Minute)
	out.Reset()
	if refuse(l, "192.0.2.1"); !strings.Contains(out.String(), "not_shown=") {
		t.Error("nobody hears of what was left out:", out.String())
	}
}

// TestWallKnown: what those cause whom a daemon knows has no rate. Lines for an operator who looks closer have a larger
// one.
func TestWallKnown(t *testing.T) {
	l, out, _ := walled()
	for range 3000 {
		Known(l).Info("published", "user", "root")
	}
	if n := strings.Count(out.String(), "\n"); n != 3000 {
		t.Errorf("%d lines are left", n)
	}
	out.Reset()
	for range 3000 {
		l.Debug("asked", "from", "192.0.2.1")
	}
	if n := strings.Count(out.String(), "\n"); n != wallLines*wallTalks {
		t.Errorf("%d lines at debug", n)
	}
	plain := slog.New(slog.DiscardHandler)
	if Known(plain) != plain {
		t.Error("a logger without a wall is another one")
	}
}

// TestWallMasks: a password is told nowhere, known or not.
func TestWallMasks(t *testing.T) {
	const secret = "hunter2hunter2"
	l, out, _ := walled()
	for _, l := range []*slog.Logger{l, Known(l)} {
		l.Error("connect Server=db;UID=sa;Pwd="+secret+": refused", "err",
			errors.New("dial postgres://u:"+secret+"@h/x"), slog.Group("g", "header", "Cookie: session_id="+secret))
		l.With("url", "https://h/?token="+secret).Error("x")
	}
	if text := out.String(); strings.Contains(text, secret) || strings.Count(text, "(masked)") != 8 {
		t.Errorf("the log: %s", text)
	}
}
