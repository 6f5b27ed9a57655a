package door

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"
)

func TestLines(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := Lines{now: func() time.Time { return now }}
	due := func(cause, from string, more int, want bool) {
		t.Helper()
		if n, ok := l.Due(cause, from); n != more || ok != want {
			t.Errorf("%s from %s: got %d, %v, want %d, %v", cause, from, n, ok, more, want)
		}
	}
	due("refused", "10.0.0.1", 0, true)
	due("refused", "10.0.0.1", 0, false)
	due("refused", "10.0.0.1", 0, false)
	due("refused", "10.0.0.2", 0, true)
	due("failed", "10.0.0.1", 0, true)
	now = now.Add(lineInterval)
	due("refused", "10.0.0.1", 2, true)
	shown := 0
	for i := range 5 * maxLines {
		if _, ok := l.Due("refused", fmt.Sprint("address", i)); ok {
			shown++
		}
	}
	if shown > maxLines+1 || len(l.seen) > maxLines+1 {
		t.Errorf("%d lines, %d addresses are kept", shown, len(l.seen))
	}
}

func TestTurns(t *testing.T) {
	turns := NewTurns()
	ctx, cancel := context.WithCancel(t.Context())
	done, err := turns.Take(ctx, "evil")
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, maxTurns)
	for range maxTurns - 1 {
		go func() {
			_, err := turns.Take(ctx, "evil")
			waiting <- err
		}()
	}
	if other, err := turns.Take(ctx, "honest"); err != nil {
		t.Errorf("another minion: %v", err)
	} else {
		other()
	}
	for entered := 0; entered < maxTurns; runtime.Gosched() {
		turns.mu.Lock()
		entered = turns.byID["evil"].n
		turns.mu.Unlock()
	}
	if _, err := turns.Take(ctx, "evil"); !errors.Is(err, ErrTurns) {
		t.Errorf("one more of a minion of whom so many wait: %v", err)
	}
	cancel()
	for range maxTurns - 1 {
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("who waited: %v", err)
		}
	}
	done()
	if len(turns.byID) > 0 {
		t.Errorf("%d minions are kept", len(turns.byID))
	}
}
