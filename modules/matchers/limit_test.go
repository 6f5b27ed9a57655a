package matchers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/wire/payload"
	"brine/wire/python/re"
)

// slowest is how much processor time the work on a target may take. Without an end it would take minutes and more.
const slowest = 10 * time.Second

// workTime is the processor time of this process. While other programs have the processors it stands still.
func workTime(t *testing.T) time.Duration {
	t.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

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
	evil, large := "((a|aa)+)+(?!b)[0-9]x$", strings.Repeat("(a?){999}", 330) // as many times three instructions
	for _, tt := range []struct{ name, tgtType, tgt string }{
		{"pcre", "pcre", evil},
		{"grain_pcre", "grain_pcre", "long:" + evil},
		{"compound", "compound", "E@" + evil + " or P@long:" + evil + " or not P@long:" + evil},
		{"many words", "compound", strings.Repeat("P@long:"+evil+" or ", 1000) + "x"},
		{"levels", "grain", "deep:" + strings.Repeat("a:", 300) + "x"},
		{"a large program", "pcre", large},
		{"a large program of grains", "grain_pcre", "long:" + large},
		{"groups", "pcre", strings.Repeat("(a)|", 15_000)},
		{"references", "pcre", "(a)" + strings.Repeat(`\1*`, 15_000)},
		{"look-arounds", "pcre", strings.Repeat("(?<=a)", 10_000)},
		{"words to compile", "compound", strings.Repeat("E@(a?){999}[a-z]{999}\\w{400} or ", 500) + "x"},
		{"stars", "grain", strings.Repeat("*:", 60) + "x"},
		{"levels of patterns", "grain_pcre", "deep:" + strings.Repeat("a:", 300) + "x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			began := workTime(t)
			got, err := evilMaster(2000).Expand(ctx, tt.tgt, tt.tgtType, "", true)
			if took := workTime(t) - began; took > slowest {
				t.Errorf("took %v", took)
			}
			if err == nil && !strings.Contains(tt.tgt, evil) { // a fast machine may get through all but what never ends
				return
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
	for tgtType, tgt := range map[string]string{"glob": "*", "pcre": "a.*", "list": "a,b", "grain": "long:*",
		"grain_pcre": "long:a", "ipcidr": "10.0.0.1", "compound": "a* or G@long:*"} {
		if got, err := evilMaster(3).Expand(ctx, tgt, tgtType, "", true); !errors.Is(err, ErrTime) ||
			got.Minions != nil {
			t.Errorf("%s: got %v, %v", tgtType, got.Minions, err)
		}
	}
}

// TestLongPatterns: what no tool sends is refused before it is compiled.
func TestLongPatterns(t *testing.T) {
	long := strings.Repeat("a", payload.MaxPattern+1)
	if _, err := re.Compile(long); !errors.Is(err, re.ErrPattern) {
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
	began := workTime(t)
	hit, err := Match("deep:"+strings.Repeat("a:", 300)+"x", "grain", "", &Facts{Grains: func() *payload.Map {
		return payload.M("deep", deep)
	}})
	if took := workTime(t) - began; hit || !errors.Is(err, ErrTime) || took > slowest {
		t.Errorf("got %v, %v after %v", hit, err, took)
	}
	deeper := strings.Repeat("G@deep:"+strings.Repeat("a:", 300)+"x or ", 50) + "x" // all its words together
	began = workTime(t)
	hit, err = Match(deeper, "compound", "", &Facts{ID: "m", Grains: func() *payload.Map {
		return payload.M("deep", deep)
	}})
	if took := workTime(t) - began; hit || !errors.Is(err, ErrTime) || took > slowest {
		t.Errorf("words: got %v, %v after %v", hit, err, took)
	}
}
