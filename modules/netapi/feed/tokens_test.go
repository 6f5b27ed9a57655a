package feed

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/wire/payload"
)

// asker is a master that is asked for tokens, and a clock.
type asker struct {
	asked atomic.Int64
	now   time.Time
	gone  bool
	err   error
	left  time.Duration // how long tokens hold yet
}

func (a *asker) tokens() *Tokens {
	t := NewTokens(func(context.Context, string) (*payload.Map, error) {
		a.asked.Add(1)
		if a.gone {
			return payload.M(), nil
		}
		if a.err != nil {
			return nil, a.err
		}
		return payload.M("expire", float64(a.now.Add(a.left).UnixMilli())/1e3), nil
	})
	t.now = func() time.Time { return a.now }
	return t
}

func TestATokenIsAskedForOnceASecond(t *testing.T) {
	a := &asker{now: time.Unix(1e9, 0), left: time.Hour}
	tokens := a.tokens()
	one, two := tokens.Hold("f00"), tokens.Hold("f00")
	for range 100 {
		for _, h := range []*Holder{one, two} {
			if err := h.Check(t.Context(), true); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := a.asked.Load(); n != 1 {
		t.Errorf("asked %d times in no time", n)
	}
	a.now = a.now.Add(time.Second)
	for range 3 {
		_ = one.Check(t.Context(), false)
	}
	if n := a.asked.Load(); n != 1 {
		t.Errorf("asked %d times while idle", n)
	}
	_ = two.Check(t.Context(), true)
	a.now = a.now.Add(freshIdle)
	_ = one.Check(t.Context(), false)
	if n := a.asked.Load(); n != 3 {
		t.Errorf("asked %d times after a second and half a minute, want 3", n)
	}
	one.Close()
	one.Close()
	two.Close()
	if len(tokens.known) != 0 {
		t.Errorf("%d tokens are kept", len(tokens.known))
	}
}

func TestATokenThatDoesNotHold(t *testing.T) {
	a := &asker{now: time.Unix(1e9, 0), left: 500 * time.Millisecond}
	tokens := a.tokens()
	h := tokens.Hold("f00")
	if err := h.Check(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	a.now = a.now.Add(600 * time.Millisecond)
	if err := h.Check(t.Context(), true); !errors.Is(err, ErrToken) || a.asked.Load() != 1 {
		t.Errorf("expired: %v, asked %d times", err, a.asked.Load())
	}
	a.gone = true
	if err := tokens.Hold("ba4").Check(t.Context(), true); !errors.Is(err, ErrToken) {
		t.Errorf("revoked: %v", err)
	}
	a.gone, a.err = false, errAway
	if err := tokens.Hold("ba5").Check(t.Context(), true); !errors.Is(err, errAway) {
		t.Errorf("master away: %v", err)
	}
}

func TestManyAskAtOnce(t *testing.T) {
	a := &asker{now: time.Unix(1e9, 0), left: time.Hour}
	tokens := a.tokens()
	var wg sync.WaitGroup
	for range 200 {
		h := tokens.Hold("f00")
		wg.Go(func() {
			if err := h.Check(t.Context(), true); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := a.asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestAskingEndsWithItsReader(t *testing.T) {
	tokens := NewTokens(func(ctx context.Context, _ string) (*payload.Map, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	h := tokens.Hold("f00")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Check(ctx, true); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, known := h.t.known(time.Now(), time.Hour); known {
		t.Error("the answer of somebody who went away is kept")
	}
}

var errAway = errors.New("no master")

// TestDrop: a token that was revoked here ends at once, however fresh the answer of the master is, and no other does.
func TestDrop(t *testing.T) {
	tokens := NewTokens(func(context.Context, string) (*payload.Map, error) {
		return payload.M("expire", float64(time.Now().Add(time.Hour).Unix())), nil
	})
	one, other := tokens.Hold("one"), tokens.Hold("other")
	defer one.Close()
	defer other.Close()
	if err := errors.Join(one.Check(t.Context(), true), other.Check(t.Context(), true)); err != nil {
		t.Fatal(err)
	}
	tokens.Drop("one")
	tokens.Drop("nobody's")
	if err := one.Check(t.Context(), true); !errors.Is(err, ErrToken) {
		t.Errorf("got %v", err)
	}
	if err := other.Check(t.Context(), true); err != nil {
		t.Errorf("the other: %v", err)
	}
}
