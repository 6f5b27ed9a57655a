package matchers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
)

// slowest is how long the work on a target may go on past its end: one match that needs backtracking, on a busy machine.
const slowest = 5 * time.Second

// evilMaster has minions whose grains are made to be hard to match.
func evilMaster(n int) *Expander {
	deep := payload.M("a", "end")
	for range 400 {
		deep = payload.M("a", deep)
	}
	s := &fakeSource{data: map[string]map[string]*payload.Map{BankGrains: {}, BankPillar: {}}}
	for i := range n {
		id := fmt.Sprintf("%s%05d", strings.Repeat("a", 40), i)
		s.accepted = append(s.accepted, id)
		s.data[BankGrains][id] = payload.M("long", strings.Repeat("a", 60), "deep", deep, "ipv4", []any{"10.0.0.1"})
	}
	return &Expander{Source: s, DataCache: true}
}

// TestExpandEnds: a target takes no longer than its context lives, whatever it is made of, and says so.
func TestExpandEnds(t *testing.T) {
	evil := "((a|aa)+)+(?!b)[0-9]x$"
	for _, tt := range []struct{ name, tgtType, tgt string }{
		{"pcre", "pcre", evil},
		{"grain_pcre", "grain_pcre", "long:" + evil},
		{"compound", "compound", "E@" + evil + " or P@long:" + evil + " or not P@long:" + evil},
		{"many words", "compound", strings.Repeat("P@long:"+evil+" or ", 1000) + "x"},
		{"levels", "grain", "deep:" + strings.Repeat("a:", 300) + "x"},
		{"stars", "grain", strings.Repeat("*:", 60) + "x"},
		{"levels of patterns", "grain_pcre", "deep:" + strings.Repeat("a:", 300) + "x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			began := time.Now()
			got, err := evilMaster(2000).Expand(ctx, tt.tgt, tt.tgtType, "", true)
			if took := time.Since(began); took > slowest {
				t.Errorf("took %v", took)
			}
			if !errors.Is(err, ErrTime) || len(got.Minions) > 0 {
				t.Errorf("got %d minions, %v, want %v", len(got.Minions), err, ErrTime)
			}
		})
	}
}

// TestExpandCancelled: a context that has ended ends every type of target.
func TestExpandCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for tgtType, tgt := range map[string]string{"glob": "*", "pcre": "a.*", "list": "a,b", "grain": "long:*", "grain_pcre": "long:a",
		"ipcidr": "10.0.0.1", "compound": "a* or G@long:*"} {
		if got, err := evilMaster(3).Expand(ctx, tgt, tgtType, "", true); !errors.Is(err, ErrTime) || got.Minions != nil {
			t.Errorf("%s: got %v, %v", tgtType, got.Minions, err)
		}
	}
}

// TestLongPatterns: what no tool sends is refused before it is compiled.
func TestLongPatterns(t *testing.T) {
	long := strings.Repeat("a", payload.MaxPattern+1)
	if _, err := CompileRegexp(long); !errors.Is(err, ErrRegexp) {
		t.Errorf("regular expression: got %v", err)
	}
	if _, ok := CompileSubdict("a:"+long, "", ModeGlob); ok {
		t.Error("a long expression was taken")
	}
	if _, ok := CompileSubdict(strings.Repeat(":", maxLevels+1), "", ModeGlob); ok {
		t.Error("a deep expression was taken")
	}
}

// TestMatchEnds: on a minion a target ends too.
func TestMatchEnds(t *testing.T) {
	deep := payload.M("a", "end")
	for range 400 {
		deep = payload.M("a", deep)
	}
	began := time.Now()
	hit, err := Match("deep:"+strings.Repeat("a:", 300)+"x", "grain", "", &Facts{Grains: func() *payload.Map { return payload.M("deep", deep) }})
	if took := time.Since(began); hit || !errors.Is(err, ErrTime) || took > slowest {
		t.Errorf("got %v, %v after %v", hit, err, took)
	}
}
