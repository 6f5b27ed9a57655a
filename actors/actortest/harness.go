package actortest

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/supervisor"
)

// Start makes a system and a root supervisor that ends with the test. Unless opt says otherwise it is named
// "test" and logs nothing. The test fails if something had to be abandoned at its end.
func Start(t testing.TB, opt supervisor.Options) *supervisor.Supervisor {
	t.Helper()
	if opt.Name == "" {
		opt.Name = "test"
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	s := supervisor.Start(supervisor.NewSystem(opt.Logger), opt)
	t.Cleanup(func() {
		if r := stop(s, opt.Clock); len(r.Abandoned) > 0 {
			t.Errorf("abandoned at the end of the test: %v\n%s", r.Abandoned, r.Goroutines)
		}
	})
	return s
}

// stop ends a tree also when its clock stands still.
func stop(s *supervisor.Supervisor, clock supervisor.Clock) supervisor.Report {
	done := make(chan supervisor.Report, 1)
	go func() { done <- s.Stop(patience) }()
	if still, ok := clock.(*Clock); ok {
		select {
		case r := <-done:
			return r
		case <-time.After(patience):
			still.Advance(patience)
		}
	}
	return <-done
}

// Add adds a child to s and waits until it has started.
func Add(t testing.TB, s *supervisor.Supervisor, spec supervisor.Spec) *supervisor.Ref {
	t.Helper()
	ref, err := s.Add(spec)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := ref.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	return ref
}

// Ask is supervisor.Ask with a test's patience.
func Ask[T any](t testing.TB, to *supervisor.Ref, build func(reply chan<- T) any) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	v, err := supervisor.Ask(ctx, to, build)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Wait waits for a value on a channel, or for its end.
func Wait[T any](t testing.TB, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("no %s", what)
	}
	return v
}

// Eventually tries until it succeeds.
func Eventually(t testing.TB, what string, try func() error) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if err = try(); err == nil {
			return
		}
	}
	t.Fatalf("%s: %v", what, err)
}

// Discard is a logger for what a test does not look at.
func Discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Log collects records, for tests of log lines.
type Log struct {
	mu      sync.Mutex
	lines   []string
	changed chan struct{}
}

// NewLog makes an empty log; Logger writes into it.
func NewLog() *Log { return &Log{changed: make(chan struct{})} }

// Logger writes "LEVEL message" of every record into the log; attributes are left out.
func (l *Log) Logger() *slog.Logger { return slog.New(logHandler{l}) }

// Lines are the records so far.
func (l *Log) Lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// Await waits for a record that contains text and returns it.
func (l *Log) Await(t testing.TB, text string) string {
	t.Helper()
	limit := time.After(patience)
	for {
		l.mu.Lock()
		changed := l.changed
		i := slices.IndexFunc(l.lines, func(s string) bool { return strings.Contains(s, text) })
		l.mu.Unlock()
		if i >= 0 {
			return l.Lines()[i]
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("no log line with %q in %q", text, l.Lines())
		}
	}
}

type logHandler struct{ l *Log }

func (logHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h logHandler) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h logHandler) WithGroup(string) slog.Handler          { return h }
func (h logHandler) Handle(_ context.Context, r slog.Record) error {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	h.l.lines = append(h.l.lines, r.Level.String()+" "+r.Message)
	close(h.l.changed)
	h.l.changed = make(chan struct{})
	return nil
}

// sameType tells messages of the type of like; with a nil like, all but the runtime's own.
func sameType(like any) func(any) bool {
	if like != nil {
		want := reflect.TypeOf(like)
		return func(msg any) bool { return reflect.TypeOf(msg) == want }
	}
	return func(msg any) bool { return !supervisor.RuntimeMessage(msg) }
}
